#pragma once
#include "threads/futex.hpp"

#include <atomic>
#include <climits>
#include <cstdint>

namespace trencadis {

/// Who is inside a piece of work that others may join while it is open. The memory is never returned while workers run, so that a
/// late joiner may look at it at any time; the state word says whether what it sees is still to be had.
///
/// Invariant: the owner goes in first and closes when it leaves, so nobody joins afterwards; exactly one member is the last one
/// out. Nobody has to wait for a member to get on: a preempted one delays its own piece only.
class Membership {
public:
    bool unused() const { return state_.load(std::memory_order_acquire) == 0; }
    /// Owner, one of several who want it: it is nobody else's until retire.
    bool claim()
    {
        std::uint32_t expected = 0;
        return state_.load(std::memory_order_relaxed) == 0 &&
               state_.compare_exchange_strong(expected, in_use, std::memory_order_acquire, std::memory_order_relaxed);
    }
    /// With the owner as first member. Publishes what it wrote to those who join.
    void open() { state_.store(is_open + in_use + member, std::memory_order_release); }
    bool try_join()
    {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        while (state & is_open)
            if (state_.compare_exchange_weak(state, state + member, std::memory_order_acquire, std::memory_order_relaxed))
                return true;
        return false;
    }
    /// True: the caller was the last one. Release: what this member wrote; acquire: what all wrote.
    bool leave(bool owner)
    {
        const std::uint32_t mine = owner ? member + is_open : member;
        const std::uint32_t left = state_.fetch_sub(mine, std::memory_order_acq_rel) - mine;
        if (left == in_use + sleeper) futex_wake(state_, INT_MAX);
        return (left & ~sleeper) == in_use;
    }
    /// The owner has left; are the others gone, too? Acquire: what all wrote.
    bool deserted() const { return (state_.load(std::memory_order_acquire) & ~sleeper) == in_use; }
    /// The owner, which has left, sleeps until the last one is out, for so long at most; may return early.
    void sleep(std::int64_t most_ns)
    {
        const std::uint32_t state = state_.fetch_or(sleeper, std::memory_order_relaxed) | sleeper;
        if (state != in_use + sleeper) futex_wait(state_, state, most_ns);
    }
    /// The last one out: it may be used again.
    void retire() { state_.store(0, std::memory_order_release); }

private:
    static constexpr std::uint32_t is_open = 1, in_use = 2, sleeper = 4, member = 8;
    std::atomic<std::uint32_t> state_{0};
};

} // namespace trencadis
