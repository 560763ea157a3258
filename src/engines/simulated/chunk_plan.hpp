#pragma once
#include "base/types.hpp"

#include <vector>

namespace trencadis {

/// When the members of a shared operation take its chunks and come to their end, worked out ahead: each takes the next chunk as
/// soon as it has done its last (graph/team.hpp). What is known stays true until a member joins or changes its speed, so an
/// engine in virtual time needs one event per member instead of one per chunk. Pure; times must not go back.
class ChunkPlan {
public:
    explicit ChunkPlan(Index chunks) : left_(chunks) {}

    /// A member that takes its first chunk now. Returns its number.
    int join(Seconds now, Seconds chunk_time) { return join(now, now, chunk_time); }
    /// One that will be ready then: its first chunk is kept for it.
    int join(Seconds now, Seconds ready, Seconds chunk_time);
    /// From now on a chunk takes the member so long, what it has in hand in proportion.
    void set_chunk_time(int member, Seconds now, Seconds chunk_time);
    /// Chunks not handed out.
    Index left(Seconds now);
    /// Will a chunk be there at that time, if nobody joins before?
    bool has_chunk_at(Seconds time);
    /// When the member has done its last chunk, if nothing changes.
    Seconds end(int member);

private:
    struct Member {
        Seconds chunk_time;
        Seconds ready;   ///< for its first chunk
        Seconds free_at; ///< when it is done with what it has
        Seconds end;
    };
    static int next(const std::vector<Member>& members);
    static Index hand_out(std::vector<Member>& members, Index left, Seconds until);
    void hand_out(Seconds until) { left_ = hand_out(members_, left_, until); }
    void foresee();

    Index left_;
    bool foreseen_ = false;
    std::vector<Member> members_;
    std::vector<Member> future_; ///< scratch
};

} // namespace trencadis
