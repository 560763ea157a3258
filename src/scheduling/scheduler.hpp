#pragma once
#include "base/registry.hpp"
#include "base/types.hpp"
#include "graph/flow_options.hpp"
#include "graph/task.hpp"
#include "scheduling/options.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trencadis {

/// All a policy knows of the machine and of what goes on. Answers are momentary; any of them may be stale when used.
class View {
public:
    virtual ~View() = default;
    virtual int workers() const = 0;
    virtual int kind(WorkerId worker) const = 0; ///< unit kind; of cores, 0 is the slowest
    virtual Seconds now() const = 0;
    /// Can this worker run the task: has its codelet an implementation for the worker's unit? The same for all workers of one
    /// kind. Somebody can at any moment; who that is changes when a unit is lost, also between two questions. A policy may keep
    /// to what it was told when it was given the task: a worker that can no more passes on what it takes.
    virtual bool able(const Task&, WorkerId) const { return true; }
    /// Expected time of a task on a worker, from what this worker did with the same codelet lately; transfers not counted.
    /// Infinite where the worker is not able.
    virtual Seconds run_time(const Task& task, WorkerId worker) const = 0;
    /// When the worker is expected to end what it runs: now when it runs nothing, infinite when nobody can say. A worker that is
    /// late is expected to need as long again as it is late.
    virtual Seconds free_at(WorkerId) const { return now(); }
    /// The flow whose tasks the worker looks for because one of its tasks, or its caller, waits for them (OpenMP's taskwait);
    /// none: it looks for any. To be asked when that worker pops.
    virtual const TaskFlow* awaited(WorkerId) const { return nullptr; }
    /// Into how many chunks the worker's unit would cut the task; 1: it is not malleable.
    virtual Index chunks_of(const Task&, WorkerId) const { return 1; }

    /// Chunks not yet handed out of the operation the worker runs and shares; 0 when there is none.
    virtual Index chunks_left(WorkerId worker) const = 0;
    /// Priority of the operation the worker runs and shares.
    virtual double shared_priority(WorkerId) const { return 0; }
    /// The memory node that this operation is for, any_node if for none (TaskOptions::node).
    virtual int shared_node(WorkerId) const { return any_node; }
    /// Expected time of one of these chunks when `by` runs it; 0 when not known.
    virtual Seconds chunk_time(WorkerId, WorkerId /*by*/) const { return 0; }

    virtual int node(WorkerId) const { return 0; } ///< its memory: a memory node, or a device's own memory

    // Where data are, in real and simulated runs told by Replicas (memory/replicas.hpp). The memory nodes of one host hold no
    // copies of each other's data: there, data are valid where they lie, a real datum on the node of its first page. One that
    // nobody has touched yet is nowhere. With one memory all data are in it. Only for policies that say so
    // (Scheduler::asks_for_data).

    virtual int memories() const { return 1; }
    /// Is it known how long data take between memories? Machines that were discovered do not tell; descriptions have links.
    virtual bool knows_transfers() const { return false; }
    /// To bring what the task needs and is not valid there to the worker's memory; 0 where that is not known.
    virtual Seconds transfer_time(const Task&, WorkerId) const { return 0; }
    /// Of the task's operands, how much is valid in the worker's memory.
    virtual Bytes valid_bytes(const Task&, WorkerId) const { return 0; }
    /// Is a valid copy of data that the task writes in the worker's memory?
    virtual bool holds_written(const Task&, WorkerId) const { return false; }
};

/// What a worker does next.
struct Decision {
    Task* run = nullptr;       ///< this task, or
    WorkerId join = no_worker; ///< the shared operation of that worker, or nothing for now
    /// Other tasks that this call took out of sight of the other workers and made visible again, as when it spreads a batch.
    /// Somebody may have looked in between and gone to sleep, so the engine wakes so many.
    int exposed = 0;
    bool offer = false; ///< others may join `run` from its beginning, also when nobody is idle then
    /// Nothing now, but there are tasks that another worker will end sooner. Ask again after so long if nothing has happened
    /// before; 0: no need to.
    Seconds again_in = 0;
};

/// A policy: which task next, and where. A plain object without threads, clocks or locks of its own; the engine serialises the
/// calls unless the entry says `concurrent`, and simulated and real runs use the same object.
class Scheduler {
public:
    virtual ~Scheduler() = default;
    /// A task became ready; `released_by` is the worker whose task released it or submitted it, no_worker for one ready when
    /// submitted by a thread that is not a worker.
    virtual void push(Task& task, WorkerId released_by) = 0;
    virtual Decision pop(WorkerId worker) = 0;
    /// Called after a task ended on a worker and before what it released is pushed; `task` is still whole. `took` is the time it
    /// ran, 0 for one that was given out and not run because its flow was cancelled. Never called for concurrent policies.
    virtual void finished(const Task& /*task*/, WorkerId, Seconds /*took*/) {}
    /// Fixed teams: the workers that take part in whatever this one runs. Empty for a worker on its own and for a follower. For
    /// engines that know how long a team takes for a kernel; asked at the start of each task.
    virtual std::span<const WorkerId> followers(WorkerId) const { return {}; }
    /// False: the worker's container is full, so what it submits next is run by itself at once instead of being pushed.
    virtual bool has_room(WorkerId) const { return true; }
    /// True: a task may be for certain workers only, so for each that was pushed the engine wakes all workers that sleep;
    /// otherwise it wakes as many as there are tasks. Asked once.
    virtual bool wakes_all() const { return false; }
    /// Of the tasks that were pushed since it was last asked, `pushed`, for how many is somebody below this number to be woken,
    /// as far as the policy has said already whose they are? Engines with devices, which have the numbers behind the cores', ask.
    virtual int for_workers_below(WorkerId, int pushed) { return pushed; }
    /// Can has_room be false? Asked once.
    virtual bool bounded() const { return false; }
    /// Does the engine call `finished`? Asked once.
    virtual bool wants_finished() const { return false; }
    /// Does it ask the View where the data of tasks are? To find that out takes real time, so an engine does it for no other
    /// policy. Asked once.
    virtual bool asks_for_data() const { return false; }
};

struct SchedulerEntry : Entry {
    bool concurrent; ///< push and pop may be called by several workers at once
    std::unique_ptr<Scheduler> (*make)(const View& view, const SchedulerOptions& options);
    std::span<const Parameter> parameters = {};
    FlowTraits flow = {}; ///< what the runtime it stands for does with dependences and throttling
    /// For a policy that asks for nothing but where data are: what it would be where there is one memory (View::memories). It is
    /// refused there.
    const char* in_one_memory = nullptr;
};
std::span<const SchedulerEntry* const> scheduler_entries();

/// A policy with its options: `name` or `name:key=value,key=value`. Beside the policy's own keys, all know
/// - throttle = none | N | Nx: past N pending tasks (N per worker) a task is run by whoever submits it; with -ready behind it, of
///   the tasks before it only those count that run or could;
/// - dependences = resizable | fixed-N | at-steal: the table from address to last access grows, has N lists, or is filled when a
///   worker looks for work;
/// - release = newest | oldest: which of the tasks that wait for one datum is ready first.
struct SchedulerSpec {
    const SchedulerEntry* entry = nullptr;
    SchedulerOptions options;
    FlowTraits flow;
    std::string text; ///< as given
    /// Throws Error{bad_argument} where the machine cannot answer what the policy asks.
    std::unique_ptr<Scheduler> make(const View& view) const;
    /// Has the random choices of the policy, or of the one inside it, follow this seed where the text names none; false: it makes
    /// none that could.
    bool seed(std::uint64_t number);
};
/// Throws Error{bad_argument} that says what was given and what would be right.
SchedulerSpec parse_scheduler(std::string_view text);

/// Do idle workers join running operations? For the policies that leave the choice.
inline constexpr Parameter join_parameter{"join", "yes|no", "yes", "idle workers join running operations"};

/// The worker that shares the operation with most chunks left, for an idle worker to join; no_worker if nobody shares.
WorkerId most_chunks_left(const View& view, WorkerId idle);

} // namespace trencadis
