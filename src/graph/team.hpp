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
        const Index grain = least > grain_ ? least : grain_, count = this->count();
        if (remaining() == 0) return {count, count};
        const Taken before(taken_.fetch_add(std::uint64_t(grain), std::memory_order_relaxed));
        return cut(before.first, before.first + grain, before.first, count - before.last);
    }
    /// The same from the other end. Members that take from both ends have the same chunks each time, as far as they are equally
    /// fast.
    Chunks take_last(Index least = 1)
    {
        const Index grain = least > grain_ ? least : grain_, count = this->count();
        if (remaining() == 0) return {count, count};
        const Taken before(taken_.fetch_add(std::uint64_t(grain) << 32, std::memory_order_relaxed));
        return cut(count - before.last - grain, count - before.last, before.first, count - before.last);
    }
    /// Chunks not yet handed out. Any thread, also while `reset` is called: a guess, then.
    Index remaining() const
    {
        const Taken taken(taken_.load(std::memory_order_relaxed));
        const Index left = count() - taken.first - taken.last;
        return left > 0 ? left : 0;
    }
    Index count() const { return count_.load(std::memory_order_relaxed); }
    /// For reuse of the object; no member may be inside.
    void reset(Index count, Index grain)
    {
        count_.store(count, std::memory_order_relaxed);
        grain_ = grain;
        taken_.store(0, std::memory_order_relaxed);
    }

private:
    /// How many were asked for at each end, in one word, so that both are of one moment. Below 2^31 each.
    struct Taken {
        explicit Taken(std::uint64_t word) : first(Index(word & 0xffffffff)), last(Index(word >> 32)) {}
        Index first, last;
    };
    static Chunks cut(Index begin, Index end, Index from, Index to)
    {
        begin = begin > from ? begin : from, end = end < to ? end : to;
        return begin < end ? Chunks{begin, end} : Chunks{to, to};
    }

    std::atomic<std::uint64_t> taken_{0};
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
    /// `joined`: the task is another core's.
    explicit Team(SharedWork& work, Pace* pace = nullptr, Index at_a_time = 1, bool joined = false)
        : work_(work), pace_(pace), at_a_time_(at_a_time), joined_(joined)
    {
    }

    /// `wanted`: what the operation would like this core to take together; it gets at least what its engine says.
    Chunks next(Index wanted = 1)
    {
        pause();
        return got(work_.take(wanted > at_a_time_ ? wanted : at_a_time_));
    }
    /// For chunks whose order does not matter: as many as are wanted, and for who has joined from the end.
    Chunks next_of_two_ends(Index wanted)
    {
        pause();
        return got(joined_ ? work_.take_last(wanted) : work_.take(wanted));
    }
    bool is_joined() const { return joined_; }
    Index taken() const { return taken_; }                ///< chunks this core has had
    Index remaining() const { return work_.remaining(); } ///< chunks that nobody has taken yet; a guess while others take

private:
    void pause()
    {
        if (pace_ && begun_) pace_->between_chunks();
        begun_ = true;
    }
    Chunks got(Chunks chunks)
    {
        taken_ += chunks.end - chunks.begin;
        return chunks;
    }

    SharedWork& work_;
    Pace* pace_;
    Index at_a_time_;
    bool joined_;
    bool begun_ = false;
    Index taken_ = 0;
};

} // namespace trencadis
