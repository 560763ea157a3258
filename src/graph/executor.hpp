#pragma once
#include "base/types.hpp"
#include "graph/task.hpp"

namespace trencadis {

/// What a TaskFlow needs from an engine. This is the arrow's direction: graph/ states it, engines/ carry it out.
class Executor {
public:
    virtual ~Executor() = default;

    /// True: `submit` runs the task at once, in order (the sequential oracle); dependences are not looked at.
    virtual bool immediate() const { return false; }
    /// Runs one task of an immediate executor.
    virtual void run_now(Task&) {}
    /// A chain of tasks (linked by `next`) that may run from now on. Any thread.
    virtual void ready(Task* chain) = 0;
    /// Called by the flow's owner when `flow.pending()` must come down to `target`: runs tasks or suspends the
    /// caller until it has. Returns at the latest when it has.
    virtual void drain(TaskFlow& flow, std::int64_t target) = 0;
    /// The pending count of a flow whose owner is suspended reached the owner's target. Any thread.
    virtual void wake_owner(TaskFlow& flow) = 0;
    /// True once the whole session was told to stop what it is doing (see Session::cancel).
    virtual bool cancelled() const { return false; }
};

} // namespace trencadis
