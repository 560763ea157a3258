#pragma once
#include "observe/clock.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

namespace trencadis {

/// Whether a session has as many callers as workers. Each of them then has a core, and on its own does more than all together on
/// one call after the other. One who is between two calls has its core to itself all the same, so a crowd is remembered for a
/// while after it was last seen. Any thread, relaxed: what follows is a guess of the moment, and results do not depend on it.
class Crowd {
public:
    static constexpr std::int64_t between_calls_ns = 1'000'000;

    explicit Crowd(int workers)
        : workers_(workers), places_(std::bit_ceil(unsigned(workers < 4 ? 8 : 2 * workers))),
          alone_(std::make_unique<Place[]>(places_))
    {
    }

    /// A call with tasks, from its begin to its end.
    class InProgress {
    public:
        explicit InProgress(Crowd& crowd) : crowd_(crowd) { crowd_.one_begins(); }
        ~InProgress() { crowd_.one_ends(); }
        InProgress(const InProgress&) = delete;
        InProgress& operator=(const InProgress&) = delete;

    private:
        Crowd& crowd_;
    };

    /// One with tasks says when it is in progress (InProgress), one without from when it asks here until it is over.
    enum class Tasks { none, some };
    /// With a caller's call that begins now, which lasts so long at the least where nobody helps.
    bool is_there(std::int64_t now, std::int64_t lasts, Tasks tasks, unsigned caller = this_thread());
    /// This thread's call, from now on, is its caller's alone, whether it has tasks or not.
    void one_begins_alone(std::int64_t now, std::int64_t lasts, unsigned caller = this_thread())
    {
        constexpr int at_most = 32; // as long as it lasts at the least: who is never over is nobody's crowd for ever
        place_of(caller).store(now + at_most * lasts, std::memory_order_relaxed);
    }
    /// Of any of this thread's calls, the shortest too.
    void one_is_over()
    {
        const unsigned caller = this_thread();
        if (place_of(caller).load(std::memory_order_relaxed) != 0) one_is_over(now_ns(), caller);
    }
    void one_is_over(std::int64_t now, unsigned caller);
    /// Its number in this process.
    static unsigned this_thread()
    {
        if (number_ == 0) number_ = ++threads_;
        return number_;
    }
    /// Calls in progress, with this thread's, which begins.
    int callers(std::int64_t now) const { return others(now, this_thread()) + 1; }

private:
    /// Until when a thread's call lasts at the most that is its caller's alone; 0: it has none. In a line of its own, since it is
    /// written twice a call.
    struct alignas(64) Place {
        std::atomic<std::int64_t> until{0};
    };
    std::atomic<std::int64_t>& place_of(unsigned caller) { return alone_[caller & (places_ - 1)].until; }

    /// Sees whether there is one, with this caller's call. Not at all the places again where that was a moment ago.
    bool look(std::int64_t now, std::int64_t since, unsigned caller);
    bool are_enough(int calls) const { return calls > 1 && calls >= workers_; }
    /// It may have been taken for one without tasks before, and counts once.
    void one_begins()
    {
        place_of(this_thread()).store(0, std::memory_order_relaxed);
        calls_.fetch_add(1, std::memory_order_relaxed);
    }
    /// The others are there still, though each of them may be between two calls when the next one begins.
    void one_ends()
    {
        const int before = calls_.fetch_sub(1, std::memory_order_relaxed);
        if (are_enough(before)) seen_at_ns_.store(now_ns(), std::memory_order_relaxed);
    }
    /// Those that are in progress, of others.
    int others(std::int64_t now, unsigned caller) const;

    const int workers_;
    const unsigned places_;
    std::atomic<int> calls_{0}; ///< with tasks
    std::atomic<std::int64_t> seen_at_ns_{INT64_MIN / 2};
    const std::unique_ptr<Place[]> alone_; ///< each thread's; two that share one count as one

    // Asked in every call; the default model would ask the dynamic linker each time.
    static thread_local constinit unsigned number_ [[gnu::tls_model("initial-exec")]];
    static constinit std::atomic<unsigned> threads_;
};

} // namespace trencadis
