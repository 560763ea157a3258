#pragma once
#include "threads/futex.hpp"

namespace trencadis {

/// A condition that threads outside sleep on until it is clear.
class Flag {
public:
    bool is_set() const { return set_.load(std::memory_order_relaxed) != 0; } ///< for who knows that it does not change now
    void set() { set_.store(1, std::memory_order_relaxed); }
    /// The flag may be gone when this returns: the store is its last access (a wake of a dead address is harmless).
    void clear()
    {
        set_.store(0, std::memory_order_release);
        futex_wake(set_, 1 << 30);
    }
    void wait_until_clear() const
    {
        while (set_.load(std::memory_order_acquire)) futex_wait(set_, 1);
    }

private:
    std::atomic<std::uint32_t> set_{0};
};

} // namespace trencadis
