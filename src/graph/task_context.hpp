#pragma once
#include "base/types.hpp"
#include "graph/team.hpp"

#include <optional>

namespace trencadis {

class TaskFlow;
struct Task;

/// What a running task sees of the world.
class TaskContext {
public:
    TaskContext(Task& task, Team& team, WorkerId worker) : task_(task), team_(team), worker_(worker) {}
    ~TaskContext();
    TaskContext(const TaskContext&) = delete;
    TaskContext& operator=(const TaskContext&) = delete;

    WorkerId worker() const { return worker_; }
    TaskFlow& own_flow() const; ///< the one that the task was submitted to
    /// The chunks of this operation, shared with whoever joins it.
    Team& team() { return team_; }
    /// A flow for tasks inside this task; they depend among each other only. The task finishes after them. Not
    /// for malleable codelets.
    TaskFlow& flow();
    /// The private part of access number `access`, which must be a `reduce`.
    void* part(int access);
    template <class T> T& part(int access) { return *static_cast<T*>(part(access)); }

    /// Waits for the tasks inside, if any; rethrows. Engines call this when the body has returned.
    void finish_children();

private:
    Task& task_;
    Team& team_;
    WorkerId worker_;
    TaskFlow* children_ = nullptr;
};

} // namespace trencadis
