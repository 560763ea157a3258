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
          ends_(std::make_unique<std::atomic<std::int64_t>[]>(places_))
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

    /// One with tasks says itself how long it is in progress (InProgress); one without is for as long as it is said to last.
    enum class Tasks { none, some };
    /// With a caller's call that begins now and lasts about so long where nobody helps.
    bool is_there(std::int64_t now, std::int64_t lasts, Tasks tasks, unsigned caller = this_thread());
    /// This thread's call without tasks, sooner than it was said to be.
    void one_is_over() { ends_[this_thread() % places_].store(0, std::memory_order_relaxed); }
    static unsigned this_thread(); ///< its number in this process
    /// Calls in progress, with this thread's, which begins.
    int callers(std::int64_t now) const { return others(now, this_thread() % places_) + 1; }

private:
    bool are_enough(int calls) const { return calls > 1 && calls >= workers_; }
    /// It may have been taken for one without tasks before, and counts once.
    void one_begins()
    {
        one_is_over();
        calls_.fetch_add(1, std::memory_order_relaxed);
    }
    /// The others are there still, though each of them may be between two calls when the next one begins.
    void one_ends()
    {
        const int before = calls_.fetch_sub(1, std::memory_order_relaxed);
        if (are_enough(before)) seen_at_ns_.store(now_ns(), std::memory_order_relaxed);
    }
    /// Those that are in progress, of others.
    int others(std::int64_t now, unsigned mine) const;

    const int workers_;
    const unsigned places_;
    std::atomic<int> calls_{0}; ///< with tasks
    std::atomic<std::int64_t> seen_at_ns_{INT64_MIN / 2};
    /// Until when a thread's last call without tasks takes, each thread in its place; two that share one count as one.
    const std::unique_ptr<std::atomic<std::int64_t>[]> ends_;
};

} // namespace trencadis
