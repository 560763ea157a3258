#pragma once
#include "matrix/work_memory.hpp"

namespace trencadis {

/// A memory node that takes part in a product.
struct NodeShare {
    int node;                          ///< of its tasks (TaskOptions::node)
    int workers;                       ///< on it
    double weight;                     ///< their speed, in any unit
    int memory = WorkMemory::anywhere; ///< the node of this system that its copies are bound to
};

} // namespace trencadis
