#include "scheduling/parts/node_deques.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_numa_ws;
const SchedulerEntry scheduler_numa_ws{
    {"numa-ws", "work stealing between memory nodes: a deque per node, own node first; on one node, one deque",
     "Nanos++ socket scheduler; Olivier et al. 2012"},
    false,
    make_node_deques,
    node_deque_parameters,
};

} // namespace trencadis
