#include "engines/simulated/chunk_plan.hpp"

#include <algorithm>

namespace trencadis {

int ChunkPlan::join(Seconds now, Seconds ready, Seconds chunk_time)
{
    hand_out(now);
    members_.push_back({chunk_time, ready, ready, ready});
    foreseen_ = false;
    if (left_ > 0) {
        --left_;
        members_.back().free_at += chunk_time;
    }
    return static_cast<int>(members_.size()) - 1;
}

void ChunkPlan::set_chunk_time(int member, Seconds now, Seconds chunk_time)
{
    hand_out(now);
    Member& m = members_[member];
    const Seconds from = std::max(now, m.ready);
    if (m.free_at > from && m.chunk_time > 0) m.free_at = from + (m.free_at - from) * (chunk_time / m.chunk_time);
    m.chunk_time = chunk_time;
    foreseen_ = false;
}

Index ChunkPlan::left(Seconds now)
{
    hand_out(now);
    return left_;
}

Seconds ChunkPlan::end(int member)
{
    if (!foreseen_) foresee();
    return members_[member].end;
}

/// Who takes the next chunk: the first to be free, among equals the one that joined first.
int ChunkPlan::next(const std::vector<Member>& members)
{
    int first = 0;
    for (int m = 1; m < static_cast<int>(members.size()); ++m)
        if (members[m].free_at < members[first].free_at) first = m;
    return first;
}

/// Returns what is left of so many.
Index ChunkPlan::hand_out(std::vector<Member>& members, Index left, Seconds until)
{
    while (left > 0 && !members.empty()) {
        Member& m = members[next(members)];
        if (m.free_at > until) break;
        m.free_at += m.chunk_time;
        --left;
    }
    return left;
}

bool ChunkPlan::has_chunk_at(Seconds time)
{
    future_ = members_;
    return hand_out(future_, left_, time) > 0;
}

void ChunkPlan::foresee()
{
    if (members_.size() == 1) members_[0].end = members_[0].free_at + static_cast<double>(left_) * members_[0].chunk_time;
    else {
        future_ = members_;
        for (Index left = left_; left > 0; --left) {
            Member& m = future_[next(future_)];
            m.free_at += m.chunk_time;
        }
        for (std::size_t m = 0; m < members_.size(); ++m) members_[m].end = future_[m].free_at;
    }
    foreseen_ = true;
}

} // namespace trencadis
