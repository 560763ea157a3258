#pragma once
#include "scheduling/parts/preset.hpp"
#include "scheduling/scheduler.hpp"

#include <array>
#include <memory>

namespace trencadis {

inline constexpr std::array central_parameters{
    Parameter{"order", "priority|oldest|newest|parent", "priority",
              "of the ready tasks; parent: what a task submits lies behind that task's own place"},
    Parameter{"waiting", "any|newest", "any",
              "what a worker takes that waits for its own tasks; newest: of these, the last that became ready"},
    join_parameter,
};

/// One central queue for all workers. The published runtimes keep it under one lock; here the engine's own does that.
std::unique_ptr<Scheduler> make_central(const View& view, const SchedulerOptions& options);

} // namespace trencadis
