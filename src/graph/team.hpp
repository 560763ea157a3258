#pragma once
#include "base/types.hpp"

#include <atomic>

namespace trencadis {

struct Chunks {
    Index begin;
    Index end;
    explicit operator bool() const { return begin < end; }
};

/// The remaining work of one running operation, handed out in chunks to every core that takes part.
/// A kernel that can be shared loops `while (auto c = team.next()) ...` over the chunks 0 .. count-1 and knows
/// nothing else of the other cores. Chunks are independent: no chunk waits for another, so a core that is
/// preempted holds back at most the chunk it has.
///
/// Relaxed is enough for the counter: what the chunks read was published by the hand-over of the task, and what they
/// write is published when a member leaves (engines do both).
class Team {
public:
    /// `grain`: chunks given at a time. A lone core takes all at once, so that nothing is cut up for nobody.
    explicit Team(Index count = 1, Index grain = 1) : count_(count), grain_(grain) {}
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    Chunks next()
    {
        if (next_.load(std::memory_order_relaxed) >= count_) return {count_, count_};
        const Index begin = next_.fetch_add(grain_, std::memory_order_relaxed);
        const Index end = begin + grain_;
        return {begin < count_ ? begin : count_, end < count_ ? end : count_};
    }
    /// Chunks not yet handed out.
    Index remaining() const
    {
        const Index next = next_.load(std::memory_order_relaxed);
        return next < count_ ? count_ - next : 0;
    }
    /// For reuse of the object; no member may be inside.
    void reset(Index count, Index grain)
    {
        count_ = count;
        grain_ = grain;
        next_.store(0, std::memory_order_relaxed);
    }

private:
    std::atomic<Index> next_{0};
    Index count_;
    Index grain_;
};

} // namespace trencadis
