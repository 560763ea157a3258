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
        const double call = call_.at(now), delay = delay_.at(now);
        const auto time = [&](int woken) { return woken * call + (alone_ns + woken * delay) / (1 + awake + woken); };
        int best = 0;
        while (best < asleep && time(best + 1) < time(best)) ++best; // it falls, then rises
        return time(best) < worth_it * time(0) ? best : 0;
    }

    void note_call(std::int64_t ns, std::int64_t now) { call_.note(ns, now); }   ///< one was woken
    void note_delay(std::int64_t ns, std::int64_t now) { delay_.note(ns, now); } ///< and began, or had not yet

private:
    /// Of what was seen lately.
    struct Mean {
        const std::int64_t usual;
        std::atomic<std::int64_t> ns{usual}, seen_ns{-lasting_ns - 1};

        bool is_old(std::int64_t now) const { return now - seen_ns.load(std::memory_order_relaxed) > lasting_ns; }
        double at(std::int64_t now) const { return double(is_old(now) ? usual : ns.load(std::memory_order_relaxed)); }
        void note(std::int64_t seen, std::int64_t now)
        {
            const std::int64_t before = is_old(now) ? usual : ns.load(std::memory_order_relaxed);
            ns.store(before + (seen - before) / 4, std::memory_order_relaxed);
            seen_ns.store(now, std::memory_order_relaxed);
        }
    };
    Mean call_{usual_call_ns}, delay_{usual_delay_ns};
};

} // namespace trencadis
