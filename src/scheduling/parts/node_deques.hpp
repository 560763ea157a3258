#pragma once
#include "scheduling/parts/preset.hpp"
#include "scheduling/parts/victims.hpp"
#include "scheduling/scheduler.hpp"

#include <array>
#include <memory>

namespace trencadis {

inline constexpr std::array node_deque_parameters{
    Parameter{"place", "data|releaser", "data",
              "the node whose deque gets a task: with most of its operands' bytes, or of its releaser"},
    Parameter{"from", "near|fullest|random", "near", "whose deque an idle node takes from first"},
    seed_parameter,
    join_parameter,
};

/// A deque per memory node: its workers run the newest task, other nodes steal the oldest. A node is near when its number is
/// near. O(nodes) per call.
std::unique_ptr<Scheduler> make_node_deques(const View& view, const SchedulerOptions& options);

} // namespace trencadis
