#pragma once
#include "machine/machine.hpp"
#include "machine/topology.hpp"

#include <string>
#include <vector>

namespace trencadis {

/// A machine with all cores of the cpuset, whoever may use them.
struct WholeMachine {
    Machine machine;                       ///< without a summary
    std::vector<std::vector<int>> threads; ///< of each core, by their numbers in the operating system
    std::string model;                     ///< of the processor
    bool is_this_system = false;           ///< false: hwloc was told to read something else
};

/// What is read once in a process.
struct ThisSystem {
    WholeMachine whole;
    std::vector<int> nodes; ///< the system's number of each memory node; empty where hwloc was told to read something else
    Topology topology;      ///< for binding memory: kept where there are several nodes
};
/// Throws what load_topology throws.
const ThisSystem& this_system();

} // namespace trencadis
