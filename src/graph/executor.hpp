#pragma once
#include "base/types.hpp"
#include "graph/task.hpp"
#include "graph/unit.hpp"

#include <span>

namespace trencadis {

class Sleeper;

/// What a TaskFlow needs from an engine. This is the arrow's direction: graph/ states it, engines/ carry it out.
class Executor {
public:
    virtual ~Executor() = default;
    virtual const char* name() const { return "this executor"; } ///< for messages

    /// The owner of a flow is about to submit a task, before anything of it is known: where virtual time is charged for it,
    /// and a caller asked whether it wants to go on.
    virtual void submitting(TaskFlow&) {}
    /// A chain of tasks (linked by `next`) that may run from now on. Any thread; called by the flow's owner for a task
    /// that is ready when submitted, by engines themselves for what TaskFlow::finish returns.
    virtual void ready(Task* chain) = 0;
    /// A task that is ready when submitted; the engine may run it at once where the scheduler has no room for it.
    virtual void submitted(Task& task);
    /// A task whose dependences are to be found when a worker looks for work (Discovery::at_steal) was added to the flow's list.
    /// The engine has workers call TaskFlow::discover until it is empty; an engine that does not may find them at once, as here.
    virtual void undiscovered(TaskFlow& flow);
    /// A flow that may have been given to `undiscovered` goes away.
    virtual void forget(TaskFlow&) {}
    virtual int workers() const { return 1; }
    /// Does it keep tasks for this memory node (TaskOptions::node) to the node's workers? Otherwise any worker runs them.
    virtual bool binds(int /*node*/) const { return false; }
    /// Called by the flow's owner when `flow.pending()` must come down to `target`: runs tasks or suspends the
    /// caller until it has. Returns at the latest when it has.
    virtual void drain(TaskFlow& flow, std::int64_t target) = 0;
    /// The pending count of a flow whose owner is suspended reached the owner's target. Any thread.
    virtual void wake_owner(TaskFlow& flow) = 0;
    /// The calling task waits for something that is no flow (graph/waiting.hpp): where `sleeper.leave()` says so, its core goes
    /// to other tasks until take_back. False: nobody can take the core, the caller sleeps with it.
    virtual bool leave_core(Sleeper&) { return false; }
    /// A sleeper that left its core may go on. Any thread.
    virtual void take_back(Sleeper&) {}
    /// Whose worker the calling thread is; none: null.
    static Executor* here();
    /// What runs tasks here, by worker. The first are cores.
    virtual std::span<const ComputeUnit> units() const;
    /// Has some unit an implementation that takes these arguments?
    bool can_run(const Codelet& codelet, const void* args) const;
    /// Runs kernels that exist; an engine that only accounts for their time takes all.
    virtual bool computes() const { return true; }
    /// Can the task be run by its submitter at once, on the calling thread? Then does so. The task is ready.
    virtual bool run_here(Task&) { return false; }
    /// How long a task of this kind and size takes here, for derived priorities; only ratios matter.
    virtual Seconds estimate(const Codelet&, Flops flops) const { return flops * 1e-9; }

protected:
    static void set_here(Executor* executor); ///< of a thread that is a worker from now on
};

} // namespace trencadis
