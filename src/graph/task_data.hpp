#pragma once
#include "graph/dependences.hpp"
#include "graph/task.hpp"

namespace trencadis {

/// One datum a task uses, for those who place tasks and move data.
struct TaskDatum {
    const void* data;
    Bytes bytes; ///< 0 when not known
    AccessMode mode;
    int home = any_node; ///< Datum::home
};

/// Calls `visit(TaskDatum)` for each different datum of a task that was submitted and has not finished.
template <class Visit> void for_each_datum(const Task& task, Visit&& visit)
{
    for (int i = 0; i < task.access_count; ++i) {
        const AccessNode& node = task.accesses[i];
        if (node.task && node.group) visit(TaskDatum{task.data[i].address, task.data[i].bytes(), node.mode, task.data[i].home});
    }
}

} // namespace trencadis
