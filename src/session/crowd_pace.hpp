#pragma once
#include "base/types.hpp"

#include <atomic>
#include <cstdint>

namespace trencadis {

/// Of the two ways in which a crowd's calls can go, each its caller's alone or all of them shared, the faster one. Which it is
/// depends on how far the cores are from one another and what memory gives to all of them at once, so it is found by trying: for
/// a turn all calls go one way, and the flops that begin in it tell that way's pace. The way that is behind has one turn in
/// eight, since a host does not stay as it was; that is a short one, as the first of each way, so that a program which runs for
/// seconds does not feel it. Any thread, relaxed: a guess of the moment, on which results do not depend.
class CrowdPace {
public:
    static constexpr std::int64_t turn_ns = 200'000'000; ///< of many calls, or one that was begun the other way would count
    static constexpr std::int64_t try_ns = 60'000'000;   ///< of several: what it says of a way is weighed again in a whole turn
    static constexpr int seldom = 8;                     ///< turns from one try to the next

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
        const bool better = alone_pace > shared_pace;
        const bool tries = turns_.fetch_add(1, std::memory_order_relaxed) % seldom == 0;
        const bool unknown = shared_pace == 0 || alone_pace == 0;
        length_ns_.store(unknown || tries ? try_ns : turn_ns, std::memory_order_relaxed);
        alone_.store(unknown ? shared_pace != 0 : better != tries, std::memory_order_relaxed);
    }

    std::atomic<std::int64_t> begun_ns_{INT64_MIN / 2}, length_ns_{try_ns}; ///< the turn's
    std::atomic<std::int64_t> last_ns_{INT64_MIN / 2};                      ///< begin of the last call
    std::atomic<Flops> begun_flops_{0};
    std::atomic<bool> alone_{false};
    std::atomic<double> pace_[2]{}; ///< flops in a nanosecond, by all together: shared, alone; 0: not tried
    std::atomic<unsigned> turns_{0};
};

} // namespace trencadis
