#pragma once
#include "graph/access.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace trencadis {

/// Which process runs a task whose data have owners: the one that holds what is written, of several the last, which in tile
/// algorithms is the one that most of the work is for. Without any, the one that holds what is named first.
inline std::int16_t executor_of(std::span<const Access> accesses)
{
    std::int16_t executor = accesses.empty() ? std::int16_t(0) : accesses.front().datum.owner;
    for (const Access& access : accesses)
        if (is_writing(access.mode)) executor = access.datum.owner;
    return executor;
}

/// What one process sends, receives and forgets while processes run a flow that all of them walk through in the same order, each
/// task where what it writes lives (executor_of). A value is sent once to each process that needs it; what was
/// received stays until the value is overwritten, or until a task that is known to be its last reader. Pure: all processes decide
/// alike from the tasks alone, so nothing is asked or told. A datum is known by its number, that of its first naming.
///
/// A process keeps of each datum the owner, whether it has the value itself, and, of its own, who else has it.
class OwnerComputes {
public:
    using Number = std::uint32_t;
    struct Use {
        Number datum;
        std::int16_t owner; ///< of what the task leaves, where it writes; it may be another one than before
        AccessMode mode;
        bool last = false;    ///< Access::last
        bool passing = false; ///< lives between tasks alone: after its last reader the owner forgets it too
    };
    struct Move {
        Number datum;
        std::int16_t other;
        bool sends;
    };
    /// For one task, in this order.
    struct Step {
        std::vector<Move> before;    ///< what the task reads
        std::vector<Move> after;     ///< what it has written for others
        std::vector<Number> dropped; ///< copies of which this process needs no more
    };

    explicit OwnerComputes(int rank) : rank_(std::int16_t(rank)) {}
    void clear() { values_.clear(); } ///< for another flow
    /// The next task: `uses` has each datum once. What is returned is valid until the next call.
    const Step& next(std::int16_t executor, std::span<const Use> uses);

private:
    struct Value {
        std::int16_t owner;
        bool here;                             ///< this process has it
        std::vector<std::int16_t> others = {}; ///< of the owner: who else has it
    };
    Value& value_of(const Use& use);
    void bring(std::int16_t executor, const Use& use, Value& value);
    void leave(std::int16_t executor, const Use& use, Value& value);
    void forget(const Use& use, Value& value);

    const std::int16_t rank_;
    std::unordered_map<Number, Value> values_;
    Step step_;
};

} // namespace trencadis
