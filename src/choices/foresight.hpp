#pragma once
#include "base/types.hpp"
#include "choices/call_graph.hpp"
#include "machine/machine.hpp"

#include <limits>
#include <vector>

namespace trencadis::choices {

/// The cores of a described machine that carry a call out, and what the runtime itself takes for each task.
struct DescribedCores {
    const Machine* machine = nullptr; ///< outlives it
    std::vector<int> cores;           ///< indices into Machine::cores; the first calls
    Seconds submit = 0;               ///< of the caller, before a task is there
    Seconds take = 0;                 ///< of whoever takes it
    double spread = 0; ///< kernel times differ from call to call by this fraction to either side: who is lucky with one order of
                       ///< tasks is not with the next
};

/// How long the tasks would take there with the machine's kernel times, if they go as the standard policy has them go
/// (choices/foreseen_policy): the caller submits them, whoever has nothing is asked at the moments at which it is asked, the data
/// are all in the first memory, and what is used from afar comes over links that those who use them share.
/// The mean of a few runs where times spread. 1 to 3 us a task and run; nothing is computed.
/// Infinite where the machine has no time for a kernel, and where it would be more than `most`.
Seconds foreseen_time(const CallGraph& graph, const DescribedCores& units,
                      Seconds most = std::numeric_limits<Seconds>::infinity());

} // namespace trencadis::choices
