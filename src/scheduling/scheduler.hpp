#pragma once
#include "base/registry.hpp"
#include "base/types.hpp"
#include "graph/task.hpp"

#include <memory>
#include <span>

namespace trencadis {

/// All a policy knows of the machine and of what goes on. Answers are momentary; any of them may be stale when used.
class View {
public:
    virtual ~View() = default;
    virtual int workers() const = 0;
    virtual int kind(WorkerId worker) const = 0; ///< core kind, 0 the slowest
    virtual Seconds now() const = 0;
    /// Expected time of a task on a worker, from what this worker did with the same codelet lately.
    virtual Seconds run_time(const Task& task, WorkerId worker) const = 0;
    /// Chunks not yet handed out of the operation the worker runs and shares; 0 when there is none.
    virtual Index chunks_left(WorkerId worker) const = 0;
};

/// What a worker does next.
struct Decision {
    Task* run = nullptr;       ///< this task, or
    WorkerId join = no_worker; ///< the shared operation of that worker, or nothing for now
};

/// A policy: which task next, and where. A plain object without threads, clocks or locks of its own; the engine serialises the
/// calls unless the entry says `concurrent`, and simulated and real runs use the same object.
class Scheduler {
public:
    virtual ~Scheduler() = default;
    /// A task became ready; `released_by` is the worker whose task released it, no_worker for one ready when submitted by a
    /// thread that is not a worker.
    virtual void push(Task& task, WorkerId released_by) = 0;
    virtual Decision pop(WorkerId worker) = 0;
    virtual void finished(const Task&, WorkerId) {}
};

struct SchedulerEntry : Entry {
    bool concurrent; ///< push and pop may be called by several workers at once
    std::unique_ptr<Scheduler> (*make)(const View& view);
};
std::span<const SchedulerEntry* const> scheduler_entries();

/// The worker that shares the operation with most chunks left, for an idle worker to join; no_worker if nobody shares.
WorkerId most_chunks_left(const View& view, WorkerId idle);

} // namespace trencadis
