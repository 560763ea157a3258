#pragma once
#include "choices/call_graph.hpp"
#include "machine/machine.hpp"

#include <span>
#include <vector>

namespace trencadis::choices {

/// How long each task of a call takes on some cores, as a machine's description has it.
class TaskTimes {
public:
    TaskTimes(const CallGraph& graph, const Machine& machine, std::span<const int> cores);

    int type(int worker) const { return types_[std::size_t(worker)]; } ///< those of one kind have one
    /// Infinite where the machine tells none.
    Seconds on(CallGraph::Task task, int type) const { return times_[std::size_t(task) * kinds_ + std::size_t(type)]; }
    Seconds best(CallGraph::Task task) const { return best_[std::size_t(task)]; }

private:
    std::size_t kinds_;
    std::vector<int> types_;     ///< [core]
    std::vector<Seconds> times_; ///< [task, type]
    std::vector<Seconds> best_;  ///< [task]
};

} // namespace trencadis::choices
