#pragma once
#include "graph/task.hpp"
#include "machine/routes.hpp"
#include "memory/replicas.hpp"

#include <functional>
#include <vector>

namespace trencadis {

/// What a View answers about the data of tasks on real cores, from the object that says it in virtual time: Replicas, over the
/// memory nodes. All cores reach them, so they are one domain: data are used where they lie and no task moves them. What has to
/// be known is where that is: `locate` notes it in a task (Datum::home) before a policy that asks sees the task. Nothing else is
/// kept, and policies that do not ask cost nothing. Data that nobody has touched yet lie nowhere and are not counted.
///
/// Any thread, as no question changes anything; `locate` belongs to whoever has the task.
class HostMemory {
public:
    using NodeOf = std::function<int(const void* address)>; ///< of a datum's first page; any_node: nobody has touched it

    /// `machine`: null where nothing is known of it, which is one memory.
    HostMemory(const Machine* machine, NodeOf node_of);

    int memories() const { return replicas_.spaces(); }
    bool knows_transfers() const { return knows_transfers_; }
    void locate(Task& task) const;

    Seconds transfer_time(const Task& task, int node) const;
    Bytes valid_bytes(const Task& task, int node) const;
    bool holds_written(const Task& task, int node) const;

private:
    std::vector<TaskDatum> located(const Task& task) const;

    const bool knows_transfers_;
    const NodeOf node_of_;
    const Replicas replicas_;
};

} // namespace trencadis
