#pragma once
#include "base/types.hpp"

#include <atomic>

namespace trencadis {

struct Chunks {
    Index begin;
    Index end;
    explicit operator bool() const { return begin < end; }
};

/// The work of one running operation, cut into independent chunks 0 .. count-1. No chunk waits for another, so a core that is
/// preempted holds back at most the chunk it has.
///
/// Relaxed is enough for the counter: what the chunks read was published by the hand-over of the task, and what they
/// write is published when a member leaves (engines do both).
class SharedWork {
public:
    /// `grain`: chunks given at a time. A lone core takes all at once, so that nothing is cut up for nobody.
    explicit SharedWork(Index count = 1, Index grain = 1) : count_(count), grain_(grain) {}
    SharedWork(const SharedWork&) = delete;
    SharedWork& operator=(const SharedWork&) = delete;

    /// `least`: what the taker wants at a time, if that is more than the grain.
    Chunks take(Index least = 1)
    {
        const Index grain = least > grain_ ? least : grain_;
        const Index count = count_.load(std::memory_order_relaxed);
        if (next_.load(std::memory_order_relaxed) >= count) return {count, count};
        const Index begin = next_.fetch_add(grain, std::memory_order_relaxed);
        const Index end = begin + grain;
        return {begin < count ? begin : count, end < count ? end : count};
    }
    /// Chunks not yet handed out. Any thread, also while `reset` is called: a guess, then.
    Index remaining() const
    {
        const Index next = next_.load(std::memory_order_relaxed);
        const Index count = count_.load(std::memory_order_relaxed);
        return next < count ? count - next : 0;
    }
    Index count() const { return count_.load(std::memory_order_relaxed); }
    /// For reuse of the object; no member may be inside.
    void reset(Index count, Index grain)
    {
        count_.store(count, std::memory_order_relaxed);
        grain_ = grain;
        next_.store(0, std::memory_order_relaxed);
    }

private:
    std::atomic<Index> next_{0};
    std::atomic<Index> count_;
    Index grain_;
};

/// Called between a member's chunks; engines use it to emulate slow cores.
class Pace {
public:
    virtual ~Pace() = default;
    virtual void between_chunks() = 0;
};

/// One core's face of the operation it takes part in. A kernel that can be shared loops `while (auto c = team.next()) ...`
/// and knows nothing else of the other cores.
class Team {
public:
    /// `at_a_time`: chunks a core takes together; a fast one takes more, so that each call of a kernel is worth it.
    explicit Team(SharedWork& work, Pace* pace = nullptr, Index at_a_time = 1) : work_(work), pace_(pace), at_a_time_(at_a_time)
    {
    }

    /// `wanted`: what the operation would like this core to take together; it gets at least what its engine says.
    Chunks next(Index wanted = 1)
    {
        if (pace_ && begun_) pace_->between_chunks();
        begun_ = true;
        const Chunks chunks = work_.take(wanted > at_a_time_ ? wanted : at_a_time_);
        taken_ += chunks.end - chunks.begin;
        return chunks;
    }
    Index taken() const { return taken_; }                ///< chunks this core has had
    Index remaining() const { return work_.remaining(); } ///< chunks that nobody has taken yet; a guess while others take

private:
    SharedWork& work_;
    Pace* pace_;
    Index at_a_time_;
    bool begun_ = false;
    Index taken_ = 0;
};

} // namespace trencadis
