#pragma once
#include "observe/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace trencadis {

/// What it costs to have workers that sleep take part in a call, as it was seen lately, and for how many of them it pays. Read
/// and written by any thread, relaxed: each value is a guess by itself.
///
/// Of a call of W ns on one core, the caller spends c on each of the h that it wakes, and they begin d later. With a others awake
/// it takes h c + (W + h d) / (1 + a + h).
class WakeCost {
public:
    static constexpr std::int64_t usual_call_ns = 10'000, usual_delay_ns = 50'000; ///< of a core that sleeps deeply
    static constexpr double worth_it = 0.9;                   ///< what saves less would only keep cores from others
    static constexpr std::int64_t lasting_ns = 1'000'000'000; ///< what was seen longer ago says nothing: it is tried again

    /// How many to wake, of so many that sleep, where the call takes at least `alone_ns` on one core.
    int helpers(double alone_ns, int awake, int asleep, std::int64_t now) const
    {
        const Costs costs = lately(now);
        const auto time = [&](int woken) { return woken * costs.call + (alone_ns + woken * costs.delay) / (1 + awake + woken); };
        int best = 0;
        while (best < asleep && time(best + 1) < time(best)) ++best; // it falls, then rises
        return time(best) < worth_it * time(0) ? best : 0;
    }

    void note_call(std::int64_t ns, std::int64_t now) { note(call_ns_, ns, now); }   ///< one was woken
    void note_delay(std::int64_t ns, std::int64_t now) { note(delay_ns_, ns, now); } ///< and began, or had not yet

private:
    struct Costs {
        double call, delay; ///< ns
    };
    Costs lately(std::int64_t now) const
    {
        if (now - seen_ns_.load(std::memory_order_relaxed) > lasting_ns) return {usual_call_ns, usual_delay_ns};
        return {double(call_ns_.load(std::memory_order_relaxed)), double(delay_ns_.load(std::memory_order_relaxed))};
    }
    void note(std::atomic<std::int64_t>& mean, std::int64_t ns, std::int64_t now)
    {
        const std::int64_t before = mean.load(std::memory_order_relaxed);
        mean.store(before + (ns - before) / 4, std::memory_order_relaxed);
        seen_ns_.store(now, std::memory_order_relaxed);
    }

    std::atomic<std::int64_t> call_ns_{usual_call_ns}, delay_ns_{usual_delay_ns}, seen_ns_{0};
};

} // namespace trencadis
