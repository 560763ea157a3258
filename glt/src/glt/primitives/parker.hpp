#pragma once
#include "glt/primitives/futex.hpp"

namespace trencadis {

/// A place for one thread to sleep until another calls `unpark`; a token that comes first is kept.
class Parker {
public:
    void park()
    {
        while (!take()) futex_wait(token_, 0);
    }
    /// As park, but gives up after `timeout_ns`; true when the token came.
    bool park_for(std::int64_t timeout_ns)
    {
        if (take()) return true;
        futex_wait(token_, 0, timeout_ns);
        return take();
    }
    /// The parker may be gone when this returns: the store is its last access (a wake of a dead address is harmless).
    void unpark()
    {
        token_.store(1, std::memory_order_release);
        futex_wake(token_, 1);
    }

private:
    bool take() { return token_.load(std::memory_order_relaxed) && token_.exchange(0, std::memory_order_acquire) != 0; }
    std::atomic<std::uint32_t> token_{0};
};

} // namespace trencadis
