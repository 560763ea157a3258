#pragma once
#include "glt/primitives/futex.hpp"

namespace trencadis {

/// A lock for sections of some tens of nanoseconds: spins briefly, then sleeps, so that a holder that was preempted does not
/// keep a waiter's core busy. Meets the standard's Lockable. Literature: Drepper, "Futexes are tricky", mutex 2.
class Lock {
public:
    bool try_lock()
    {
        std::uint32_t free = 0;
        return state_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void lock()
    {
        for (int i = 0; i < spins; ++i) {
            if (state_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
            relax();
        }
        while (state_.exchange(2, std::memory_order_acquire) != 0) futex_wait(state_, 2);
    }
    void unlock()
    {
        if (state_.exchange(0, std::memory_order_release) == 2) futex_wake(state_, 1);
    }

private:
    static constexpr int spins = 200;
    std::atomic<std::uint32_t> state_{0}; ///< 0 free, 1 held, 2 held and somebody may sleep
};

} // namespace trencadis
