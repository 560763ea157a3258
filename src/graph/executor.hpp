#pragma once
#include "base/types.hpp"
#include "graph/task.hpp"

namespace trencadis {

/// What a TaskFlow needs from an engine. This is the arrow's direction: graph/ states it, engines/ carry it out.
class Executor {
public:
    virtual ~Executor() = default;

    /// A chain of tasks (linked by `next`) that may run from now on. Any thread; called by the flow's owner for a task
    /// that is ready when submitted, by engines themselves for what TaskFlow::finish returns.
    virtual void ready(Task* chain) = 0;
    /// Called by the flow's owner when `flow.pending()` must come down to `target`: runs tasks or suspends the
    /// caller until it has. Returns at the latest when it has.
    virtual void drain(TaskFlow& flow, std::int64_t target) = 0;
    /// The pending count of a flow whose owner is suspended reached the owner's target. Any thread.
    virtual void wake_owner(TaskFlow& flow) = 0;
    /// Runs kernels that exist; an engine that only accounts for their time takes all.
    virtual bool computes() const { return true; }
    /// Can the task be run by its submitter at once, on the calling thread? Then does so. The task is ready.
    virtual bool run_here(Task&) { return false; }
    /// How long a task of this kind and size takes here, for derived priorities; only ratios matter.
    virtual Seconds estimate(const Codelet&, Flops flops) const { return flops * 1e-9; }
};

} // namespace trencadis
