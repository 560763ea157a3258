#pragma once
#include "choices/call_graph.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace trencadis::choices {

inline constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

/// Who carries a call out that is foreseen.
struct ForeseenWorker {
    int type;             ///< TaskTimes
    int place;            ///< of those that share a memory
    bool submits = false; ///< the caller: until the call is over nobody knows when it will be free, unless it runs something
    bool runs = false;    ///< has begun what it took; who still waits for data counts as free
    Seconds free = 0;     ///< then: when its part will be over, as it stands
    double pace = 1;      ///< what its tasks took, with their data, over what they should have, lately
    int offer = -1;       ///< its operation that others may join

    Seconds free_at(Seconds now) const { return runs ? std::max(now, free) : submits ? never : now; }
};

/// A task that one worker has begun; others may have joined. Who has done a chunk takes the next one.
struct ForeseenOperation {
    struct Member {
        int worker;
        Seconds free; ///< from its chunk, until it takes the next
        Seconds end;  ///< of its part, as it stands
    };
    CallGraph::Task task = -1;
    int owner = -1;
    Index chunks = 1;                    ///< into which it was cut
    Seconds chunk = 0;                   ///< how long one takes
    Index left = 0;                      ///< that nobody has begun
    bool wanted = false, shared = false; ///< others may join whoever is idle; somebody has
    Seconds since = 0;                   ///< its worker took it
    int use = 0;                         ///< which of its operands is on its way
    bool is_back = false;                ///< what it writes
    Seconds there = 0;                   ///< not earlier, by what a core has under way
    int version = 0;
    std::vector<Member> members = {};

    Index left_at(Seconds now)
    {
        while (left > 0) {
            Member& next = *std::ranges::min_element(members, {}, &Member::free);
            if (next.free > now) break;
            next.free += chunk;
            --left;
        }
        return left;
    }
    void foresee()
    {
        for (Member& member : members) member.end = member.free;
        for (Index of = left; of > 0; --of) std::ranges::min_element(members, {}, &Member::end)->end += chunk;
    }
};

/// What policies see of it.
struct ForeseenView {
    Seconds now = 0;
    std::vector<ForeseenWorker> workers;
    std::vector<ForeseenOperation> operations;
    std::vector<Seconds> levels; ///< [task], to the end of what is submitted by way of what waits for it; 0: it is not submitted
};

} // namespace trencadis::choices
