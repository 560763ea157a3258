#pragma once
#include "base/types.hpp"

#include <algorithm>
#include <cstddef>

namespace trencadis {

/// How often a device and a core are timed, and which times count. What is measured is kept, and chosen by for good: a time that
/// a neighbour on the cores has made longer must not be the last word. Others only ever make one longer: the shortest counts.
constexpr Seconds long_enough = 0.005; ///< of a copy, and of a core's kernel

/// Bytes per second of copies that are doubled, up to `most`, until one takes long enough without the latency; `time(bytes)`:
/// the seconds of one. One that seems to is made again some times.
template <class Time> double rate_of_copies(std::size_t most, Seconds latency, const Time& time)
{
    for (std::size_t bytes = std::min<std::size_t>(most, 64 << 10);; bytes = std::min(2 * bytes, most)) {
        Seconds took = time(bytes);
        for (int times = 1; times < 6 && took - latency >= long_enough; ++times) took = std::min(took, time(bytes));
        const Seconds moving = took - latency;
        if (moving >= long_enough || bytes == most) return double(bytes) / std::max(moving, took / 10);
    }
}

/// Seconds of a kernel of so many flops, the shortest but for the first `passed_over`. `time()`: the seconds of one; it is asked
/// `times(the shortest so far)` times, and some more while that is not half as fast as a smaller one, which had the rate `below`
/// (0: there is none).
template <class Times, class Time>
Seconds time_of_kernel(Flops flops, double below, int passed_over, const Times& times, const Time& time)
{
    Seconds shortest = 0;
    const auto is_behind = [&] { return 2 * flops < below * shortest; };
    for (int made = 0; made < times(shortest) || (made < 12 && is_behind()); ++made) {
        const Seconds took = time();
        shortest = made <= passed_over ? took : std::min(shortest, took);
    }
    return shortest;
}

} // namespace trencadis
