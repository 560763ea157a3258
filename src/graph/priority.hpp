#pragma once
#include "graph/access.hpp"
#include "graph/task.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace trencadis {

/// Bottom levels (longest path to the end of the graph, in estimated seconds) of the unfinished tasks, computed while
/// the graph is discovered. A sweep from the newest task to the oldest unfinished one makes them exact for
/// the part known so far; sweeps come after a growing number of submissions, so that the cost per task is a constant
/// times its number of dependences. Where the window is larger than 2^16 tasks, as where a flow is submitted whole before it
/// runs, up to 2^22 tasks are kept, and their levels are exact when the flow waits. Owner of the flow only.
/// Literature: HEFT's upward rank (Topcuoglu et al. 2002); discovered at run time as in CATS (Chronaki et al. 2015).
class BottomLevels {
public:
    explicit BottomLevels(std::int64_t window);
    /// A task just submitted, `task.order` one more than the last. `base` is what the caller's own priority adds.
    void add(Task& task, std::span<const AccessNode> nodes, std::span<const Access> accesses, Seconds cost, double base);
    /// Brings all priorities up to date; called by the flow before it waits.
    void sweep();

private:
    struct Record {
        Task* task = nullptr;
        Seconds cost = 0;
        Seconds level = 0;
        double base = 0;
        std::vector<std::uint64_t> before; ///< orders of the tasks it depends on
    };
    struct History {
        AccessMode mode = AccessMode::read;
        std::vector<std::uint64_t> newest, previous; ///< members of the newest group and of the one before
    };
    Record& record(std::uint64_t order) { return records_[order & mask_]; }
    bool unfinished(std::uint64_t order);
    void make_room(std::uint64_t order);
    void note(std::uint64_t order, const Access& access, AccessMode mode);
    void prune(std::vector<std::uint64_t>& members);

    std::vector<Record> records_; ///< of the last tasks, by order modulo their number; as many as there are unfinished ones
    const std::uint64_t most_;    ///< records
    std::uint64_t mask_;
    std::uint64_t oldest_ = 0; ///< every task before it has finished, or was forgotten
    std::uint64_t next_ = 0;
    std::uint64_t next_sweep_ = 16;
    std::unordered_map<const void*, History> histories_;
};

} // namespace trencadis
