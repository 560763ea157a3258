#pragma once
#include "base/types.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace trencadis {

/// Of the two ways in which a crowd's calls can go, each its caller's alone or all of them shared, the faster one. Which it is
/// depends on how far the cores are from one another and what memory gives to all of them at once, so it is found by trying: for
/// a turn all calls go one way, and the flops that begin in it tell that way's pace. The way that is behind has one turn in
/// eight, since a host does not stay as it was; that is a short one, as the first of each way, so that a program which runs for
/// seconds does not feel it. It has fewer where it is found far behind time after time: that the other one falls back is seen
/// without it. Any thread, relaxed: a guess of the moment, on which results do not depend.
class CrowdPace {
public:
    static constexpr std::int64_t turn_ns = 200'000'000; ///< of many calls, or one that was begun the other way would count
    static constexpr std::int64_t try_ns = 60'000'000;   ///< of several: what it says of a way is weighed again in a whole turn
    static constexpr unsigned seldom = 8, most_seldom = 32; ///< turns from one try to the next
    static constexpr double far_behind = 7.0 / 8;           ///< of the other way's pace

    /// When nobody calls for longer than the longest call takes, that is no time of a turn.
    static constexpr std::int64_t pause_ns = 40'000'000, longest_ns = 15'000'000;

    /// Of a call of so many flops that begins now: does it go alone?
    bool goes_alone(Flops flops, std::int64_t now)
    {
        const std::int64_t since = now - last_ns_.exchange(now, std::memory_order_relaxed);
        if (since > pause_ns) begun_ns_.fetch_add(since - longest_ns, std::memory_order_relaxed);
        std::int64_t begun = begun_ns_.load(std::memory_order_relaxed);
        if (now - begun >= length_ns_.load(std::memory_order_relaxed) &&
            begun_ns_.compare_exchange_strong(begun, now, std::memory_order_relaxed))
            next_turn(now - begun);
        begun_flops_.fetch_add(flops, std::memory_order_relaxed);
        return alone_.load(std::memory_order_relaxed);
    }

private:
    void next_turn(std::int64_t took)
    {
        const Flops done = begun_flops_.exchange(0, std::memory_order_relaxed);
        const bool alone = alone_.load(std::memory_order_relaxed);
        if (took < 2 * length_ns_.load(std::memory_order_relaxed)) { // else nobody called for a while
            std::atomic<double>& pace = pace_[alone];
            const double seen = done / double(took), before = pace.load(std::memory_order_relaxed);
            pace.store(before == 0 ? seen : (before + seen) / 2, std::memory_order_relaxed);
        }
        const double shared_pace = pace_[0].load(std::memory_order_relaxed),
                     alone_pace = pace_[1].load(std::memory_order_relaxed);
        if (shared_pace == 0 || alone_pace == 0) return alone_.store(shared_pace != 0, std::memory_order_relaxed);
        const bool better = alone_pace > shared_pace;
        const bool far_apart = std::min(shared_pace, alone_pace) < far_behind * std::max(shared_pace, alone_pace);
        const bool tries = is_time_to_try(alone != better && far_apart);
        length_ns_.store(tries ? try_ns : turn_ns, std::memory_order_relaxed);
        alone_.store(better != tries, std::memory_order_relaxed);
    }
    /// `as_expected`: was the turn a try of the way that is found far behind?
    bool is_time_to_try(bool as_expected)
    {
        const std::int64_t length = length_ns_.load(std::memory_order_relaxed);
        unsigned left = left_.load(std::memory_order_relaxed);
        if (length == try_ns) {
            const unsigned gap = as_expected ? std::min(2 * gap_.load(std::memory_order_relaxed), most_seldom) : seldom;
            gap_.store(gap, std::memory_order_relaxed);
            left = gap;
        }
        left_.store(left > 0 ? left - 1 : 0, std::memory_order_relaxed);
        return left <= 1;
    }

    std::atomic<std::int64_t> begun_ns_{INT64_MIN / 2}, length_ns_{try_ns}; ///< the turn's
    std::atomic<std::int64_t> last_ns_{INT64_MIN / 2};                      ///< begin of the last call
    std::atomic<Flops> begun_flops_{0};
    std::atomic<bool> alone_{false};
    std::atomic<double> pace_[2]{};                    ///< flops in a nanosecond, by all together: shared, alone; 0: not tried
    std::atomic<unsigned> gap_{seldom}, left_{seldom}; ///< turns from the last try to the next, and until then
};

} // namespace trencadis
