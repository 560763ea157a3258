#pragma once
#include <atomic>
#include <cstdint>

namespace trencadis {

/// Whether a session has as many callers as workers. Each of them then has a core, and on its own does more than all together on
/// one call after the other. One who is between two calls has its core to itself all the same, so a crowd is remembered for a
/// while. Any thread, relaxed: what follows is a guess of the moment, and results do not depend on it.
class Crowd {
public:
    static constexpr std::int64_t between_calls_ns = 1'000'000;

    /// A call with tasks, from its begin to its end.
    class InProgress {
    public:
        explicit InProgress(Crowd& crowd) : calls_(crowd.calls_) { calls_.fetch_add(1, std::memory_order_relaxed); }
        ~InProgress() { calls_.fetch_sub(1, std::memory_order_relaxed); }
        InProgress(const InProgress&) = delete;
        InProgress& operator=(const InProgress&) = delete;

    private:
        std::atomic<int>& calls_;
    };

    /// With one call more, which is about to begin.
    bool is_there(int workers, std::int64_t now)
    {
        const int others = calls_.load(std::memory_order_relaxed);
        if (others == 0 || others + 1 < workers) return now - seen_at_ns_.load(std::memory_order_relaxed) < between_calls_ns;
        seen_at_ns_.store(now, std::memory_order_relaxed);
        return true;
    }

private:
    std::atomic<int> calls_{0};
    std::atomic<std::int64_t> seen_at_ns_{INT64_MIN / 2};
};

} // namespace trencadis
