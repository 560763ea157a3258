#pragma once
#include "threads/futex.hpp"

namespace trencadis {

/// Lets threads sleep until "something may have changed" without a lock around the something. A sleeper calls prepare(), looks
/// once more, then wait(key) or cancel(); a producer changes the something, then calls notify.
///
/// The orders that matter: prepare's increment of `sleepers_` before the look, and the producer's change before its load of
/// `sleepers_`, each with a full fence in between. Then either the look sees the change or the producer sees the sleeper.
/// Literature: Vyukov's eventcount.
class EventCount {
public:
    std::uint32_t prepare()
    {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        const std::uint32_t key = epoch_.load(std::memory_order_seq_cst);
        full_fence();
        return key;
    }
    void cancel() { sleepers_.fetch_sub(1, std::memory_order_relaxed); }
    void wait(std::uint32_t key)
    {
        while (epoch_.load(std::memory_order_acquire) == key) futex_wait(epoch_, key);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    /// As wait, but returns at the latest after about `timeout_ns`. Was it notified?
    bool wait_for(std::uint32_t key, std::int64_t timeout_ns)
    {
        if (epoch_.load(std::memory_order_acquire) == key) futex_wait(epoch_, key, timeout_ns);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        return epoch_.load(std::memory_order_acquire) != key;
    }
    void notify(int count)
    {
        full_fence();
        if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
        epoch_.fetch_add(1, std::memory_order_release);
        futex_wake(epoch_, count);
    }
    void notify_all() { notify(1 << 30); }

private:
    void full_fence()
    {
#if defined(__SANITIZE_THREAD__)
        sleepers_.fetch_add(0, std::memory_order_seq_cst); // the sanitizer does not model fences
#else
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    }
    alignas(64) std::atomic<std::uint32_t> epoch_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};

} // namespace trencadis
