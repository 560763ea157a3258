#pragma once
#include "observe/clock.hpp"

#include <atomic>
#include <cstdint>

namespace trencadis {

/// Whether a session has as many callers as workers. Each of them then has a core, and on its own does more than all together on
/// one call after the other. One who is between two calls has its core to itself all the same, so a crowd is remembered for a
/// while after it was last seen, where a call begins or ends. Any thread, relaxed: what follows is a guess of the moment, and
/// results do not depend on it.
class Crowd {
public:
    static constexpr std::int64_t between_calls_ns = 1'000'000;

    explicit Crowd(int workers) : workers_(workers) {}

    /// A call with tasks, from its begin to its end.
    class InProgress {
    public:
        explicit InProgress(Crowd& crowd) : crowd_(crowd) { crowd_.calls_.fetch_add(1, std::memory_order_relaxed); }
        ~InProgress() { crowd_.one_ends(); }
        InProgress(const InProgress&) = delete;
        InProgress& operator=(const InProgress&) = delete;

    private:
        Crowd& crowd_;
    };

    /// With one call more, which is about to begin.
    bool is_there(std::int64_t now)
    {
        if (are_enough(calls_.load(std::memory_order_relaxed) + 1)) {
            seen_at_ns_.store(now, std::memory_order_relaxed);
            return true;
        }
        return now - seen_at_ns_.load(std::memory_order_relaxed) < between_calls_ns;
    }

private:
    bool are_enough(int calls) const { return calls > 1 && calls >= workers_; }
    /// The others are there still, though each of them may be between two calls when the next one begins.
    void one_ends()
    {
        const int before = calls_.fetch_sub(1, std::memory_order_relaxed);
        if (are_enough(before)) seen_at_ns_.store(now_ns(), std::memory_order_relaxed);
    }

    const int workers_;
    std::atomic<int> calls_{0};
    std::atomic<std::int64_t> seen_at_ns_{INT64_MIN / 2};
};

} // namespace trencadis
