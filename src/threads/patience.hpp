#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace trencadis {

/// How long a worker that finds nothing to do stays awake before it sleeps: as long as its last waits have shown to be worth it.
/// Waking costs the next call tens of microseconds; staying awake costs somebody else's time. Where waits are short (calls that
/// follow one another) twice as long as the longest of the last ones; where they are long, or where a neighbour wants the core,
/// hardly at all. The worker's own, but for `is_crowded`, which any thread may ask: a guess.
class Patience {
public:
    std::int64_t spin_ns(std::int64_t now) const { return is_crowded(now) ? 0 : spin_ns_; }
    /// Has a neighbour wanted the core lately?
    bool is_crowded(std::int64_t now) const { return now < crowded_until_ns_.load(std::memory_order_relaxed); }
    /// A wait is over.
    void waited(std::int64_t ns)
    {
        if (ns > longest_ns) spin_ns_ = std::max(least_ns, spin_ns_ / 2);
        else if (ns > least_ns / 2) {
            typical_ns_ = std::max(ns, typical_ns_ - (typical_ns_ - ns) / falling);
            spin_ns_ = std::clamp(several * typical_ns_, least_ns, several * longest_ns);
        }
    }
    /// While it spun, the time between two looks, which take a tenth of a microsecond each.
    bool crowded(std::int64_t now, std::int64_t since_last_look_ns)
    {
        if (since_last_look_ns < preempted_ns) return false;
        crowded_until_ns_.store(now + std::min(remembered * since_last_look_ns, longest_memory_ns), std::memory_order_relaxed);
        return true;
    }

private:
    static constexpr std::int64_t least_ns = 30'000;      ///< about what it costs to put a thread to sleep and wake it
    static constexpr std::int64_t longest_ns = 1'000'000; ///< longer waits are not worth a core's time
    /// Between two calls it is longer than between the steps of one, of which there may be a dozen.
    static constexpr std::int64_t several = 2, falling = 32;
    static constexpr std::int64_t preempted_ns = 500'000; ///< longer than interrupts take: somebody else had the core
    /// Times what it lost, so that to try again costs a tenth at most: a neighbour takes the core for long, again and again, a
    /// host that is short of cores for a moment now and then.
    static constexpr std::int64_t remembered = 10;
    static constexpr std::int64_t longest_memory_ns = 100'000'000;
    std::int64_t spin_ns_ = least_ns, typical_ns_ = 0;
    std::atomic<std::int64_t> crowded_until_ns_{0};
};

} // namespace trencadis
