#pragma once
#include "graph/info.hpp"
#include "graph/task_context.hpp"

namespace trencadis {

/// Whether a tile task of a flow that factors still makes sense: it does nothing once a bad pivot is known at `last` or before.
/// A task of step k names the last row of that step, so that what is computed after a failure depends on where it
/// happened, never on timing.
struct Guard {
    Index last = 0; ///< 0: always go on

    bool stopped(TaskContext& context) const { return last && context.outcome().reached(last); }
};

} // namespace trencadis
