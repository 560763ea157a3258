#pragma once
#include "base/types.hpp"
#include "graph/codelet.hpp"
#include "graph/data.hpp"
#include "graph/team.hpp"

namespace trencadis {

class Flow;
class Info;
class TaskFlow;
struct Task;

/// What a running task sees of the world. Whoever carries tasks out makes one for each run.
class TaskContext {
public:
    TaskContext(Team& team, WorkerId worker) : team_(team), worker_(worker) {}
    virtual ~TaskContext() = default;
    TaskContext(const TaskContext&) = delete;
    TaskContext& operator=(const TaskContext&) = delete;

    WorkerId worker() const { return worker_; }
    /// The chunks of this operation, shared with whoever joins it.
    Team& team() { return team_; }
    /// Where the datum of access number `access` is for this task. Accesses are numbered as submitted.
    virtual Operand operand(int access) const = 0;
    /// What it computes with.
    virtual const Kernels* kernels() const = 0;
    /// The outcome of the flow: where the task reports a numerical event, and asks what those have reported that it depends on.
    virtual Info& outcome() = 0;
    /// The flow that the task was submitted to; null: not known.
    virtual const Flow* own_flow() const { return nullptr; }
    /// A flow for tasks inside this task; they depend among each other only. The task finishes after them. Not
    /// for malleable codelets.
    virtual Flow& flow() = 0;
    /// The private part of access number `access`, which must be a `reduce`.
    virtual void* part(int access) = 0;
    template <class T> T& part(int access) { return *static_cast<T*>(part(access)); }

private:
    Team& team_;
    WorkerId worker_;
};

/// Of a task of a TaskFlow, on a core.
class TaskFlowContext final : public TaskContext {
public:
    TaskFlowContext(Task& task, Team& team, WorkerId worker) : TaskContext(team, worker), task_(task) {}
    ~TaskFlowContext() override;

    Operand operand(int access) const override;
    const Kernels* kernels() const override;
    Info& outcome() override;
    const Flow* own_flow() const override;
    Flow& flow() override;
    using TaskContext::part;
    void* part(int access) override;

    /// Waits for the tasks inside, if any, and hands their outcome up; rethrows. Engines call this when the body has returned.
    void finish_children();

private:
    Task& task_;
    TaskFlow* children_ = nullptr;
};

} // namespace trencadis
