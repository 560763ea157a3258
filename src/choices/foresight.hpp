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

/// How long the tasks would take there, foreseen by list scheduling with the machine's kernel times: whoever is free takes the
/// ready task with the longest way to the end (Graham 1969 for the bound, HEFT for the order), joins a malleable one where none
/// is ready, and where there are several memories, all data being in the first, each task is put where it is expected to end
/// first, what it uses from afar coming over the links. Infinite where the machine has no time for a kernel.
/// The mean of a few runs where times spread. About 1 us a task each; nothing is computed.
/// Infinite too where it would be more than `most`.
Seconds foreseen_time(const CallGraph& graph, const DescribedCores& units,
                      Seconds most = std::numeric_limits<Seconds>::infinity());

} // namespace trencadis::choices
