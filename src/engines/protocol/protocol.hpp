#pragma once
#include "engines/protocol/node_binding.hpp"
#include "engines/protocol/overflow.hpp"
#include "engines/protocol/succession.hpp"
#include "engines/protocol/undiscovered_flows.hpp"
#include "engines/task_flow_engine.hpp"
#include "graph/task_flow.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace trencadis {

/// Is it a task of the flow, or of a flow inside that one?
inline bool inside(const Task& task, const TaskFlow& flow)
{
    const TaskFlow* of = task.flow;
    while (of && of != &flow) of = of->parent();
    return of;
}

/// The whole call that the flow belongs to.
inline void cancel_call(TaskFlow& flow)
{
    TaskFlow* call = &flow;
    while (call->parent()) call = call->parent();
    call->cancel();
}

/// What a unit begins with when it is given a worker.
struct FirstTask {
    Task* task = nullptr;
    bool offer = false; ///< others may join it from its beginning
};

/// What the protocol keeps of a unit that can hold a worker. One at a time holds each worker and runs its tasks; when a task must
/// wait, another takes the worker over, so that no core stands still.
template <class Worker> struct HolderState {
    Worker* worker;
    FirstTask first{};  ///< written before the worker is handed over
    bool waits = false; ///< it has handed the worker over and wants it back when what it waits for has come
};

/// Of a worker.
template <class Holder> struct WorkerState {
    WorkerId id = 0;
    Task* released = nullptr; ///< by the task that ended last; pushed when the holder looks for the next one, under the same lock
    int in_flight = 0;        ///< tasks that its unit was given and has not completed; the holder's
    const TaskFlow* awaited = nullptr; ///< see View::awaited; the holder's
    alignas(64) Succession<Holder> succession;

    Task** released_end() ///< where more are appended: they run in the order they were released
    {
        Task** end = &released;
        while (*end) end = &(*end)->next;
        return end;
    }
};

/// Of an owner that waits for its flow; on the owner's stack until it goes on.
template <class Holder> struct WaitState {
    TaskFlow& flow;
    std::int64_t target;
    Holder* holder = nullptr; ///< set when the owner gave its worker to another unit and wants it back
    bool over() const { return flow.pending() <= target; }
};

/// What a worker does between flows, policy and the other workers, the same in real and in virtual time: it asks the policy,
/// after giving it what its last task released; finds dependences when there is nothing else; runs what it found; and when it
/// waits for a flow runs that flow's tasks, while for any other task it hands the worker over. Running foreign tasks on the
/// waiter's stack instead could deadlock: they may need what the waiter holds.
///
/// The carrier, which derives from this and is named to it (no call is virtual), says how that is carried out:
///
///     Holder& holder(worker)                   who has the worker now: the caller
///     Holder& new_holder(worker)               another one, that has not begun and may never; throws where none can be had
///     void pass(worker, self, next)            `next` has the worker; returns when `self` has it back
///     void wake_worker(worker)                 whoever holds it looks around
///     void wake(count, cores_alone)            so many of those who are idle look for tasks; devices need not for cores' tasks
///     void someone_looks()                     one at least looks for dependences
///     bool cores_alone(chain)                  no device is to have any of them
///     Found idle(worker, wait)                 blocks until there is something to do or `disturbed`; `wait`: whose end ends it
///     bool disturbed(worker)                   the holder is to look at something other than tasks
///     Found look(worker)                       `seek`, and what else there is to find
///     Found joined(worker, decision)           a member of what the policy names, if it still can be
///     void act(worker, found), execute(worker, task, offer)
///     bool any_work()                          is it worth to ask the policy; a hint
///     bool can_run(worker, task)               on the stack of another one
///     with_policy(body)                        calls it; the policy is the caller's alone meanwhile, unless it is concurrent
///     int push(chain, from)                    gives the policy tasks; returns how many workers should know
///     void taken(task)                         the policy has given it out
///     void locate(chain)                       notes where the tasks' data are, for a policy that asks; before `push`
template <class Carrier, class Worker, class Holder, class Wait, class Found> class WorkerProtocol : public TaskFlowEngine {
public:
    bool binds(int node) const final { return binding_.binds(node); }
    void submitted(Task& task) override
    {
        const Worker* worker = self().here();
        if (!worker || !bounded_ || has_room(*worker) || !run_here(task)) self().ready(&task);
    }
    /// On the stack of the task that submits it. That one cannot hold what this one needs: it waits for it in any case.
    bool run_here(Task& task) final
    {
        Worker* worker = self().here();
        if (!worker || !binding_.allows(worker->id, task.node) || !self().can_run(*worker, task)) return false;
        self().execute(*worker, task, false);
        push_released(*worker);
        return true;
    }
    void undiscovered(TaskFlow& flow) final
    {
        undiscovered_.add(flow);
        self().someone_looks();
    }
    void forget(TaskFlow& flow) final { undiscovered_.forget(flow); }

protected:
    explicit WorkerProtocol(std::vector<int> nodes) : binding_(std::move(nodes)) {}

    void make_scheduler(const View& view, const SchedulerSpec& spec, bool bound = false)
    {
        concurrent_ = spec.entry->concurrent;
        scheduler_ = binding_.make(view, spec, bound);
        bounded_ = scheduler_->bounded();
        wakes_all_ = scheduler_->wakes_all();
        wants_finished_ = scheduler_->wants_finished() && !concurrent_;
    }

    // ---- looking --------------------------------------------------------------------------------------------------

    /// Gives the policy the tasks of a chain. It may have another worker run a task at once, so the next is known before. A task
    /// is known to everybody by now and cannot fail any more: what the policy has no memory for is kept beside it.
    template <class Each> void push_each(Task* chain, WorkerId from, Each&& each)
    {
        while (chain) {
            Task& task = *std::exchange(chain, chain->next);
            each(task);
            try {
                scheduler_->push(task, from);
            } catch (const std::bad_alloc&) {
                overflow_.add(task);
            }
        }
    }
    /// For a holder that does not go on to look for a task.
    void push_released(Worker& worker)
    {
        if (Task* chain = std::exchange(worker.released, nullptr)) self().ready(chain);
    }
    /// Asks the policy, after giving it what the worker released.
    Decision choose(Worker& worker)
    {
        Decision decision;
        int released = 0;
        const bool any_released = worker.released, cores_alone = self().cores_alone(worker.released);
        self().locate(worker.released);
        if (worker.released || self().any_work())
            self().with_policy([&] {
                released = self().push(std::exchange(worker.released, nullptr), worker.id);
                decision = scheduler_->pop(worker.id);
                if (!decision.run && overflow_.any()) decision.run = overflow_.take(for_worker(worker));
                if (decision.run) self().taken(*decision.run);
            });
        // One of those that any worker may have is for this one, if it takes one.
        const int kept = decision.run && !binds(decision.run->node);
        const int wakes = std::max(decision.exposed, wakes_all_ ? released : released - kept);
        if (wakes || (wakes_all_ && any_released)) self().wake(wakes, cores_alone && decision.exposed == 0);
        return decision;
    }
    /// As long as the policy has no task, dependences are found that make some ready.
    Found seek(Worker& worker)
    {
        Decision decision = choose(worker);
        while (!decision.run && undiscovered_.any() && undiscovered_.discover(worker.released_end())) decision = choose(worker);
        return decision.run ? found({decision.run, decision.offer}) : self().joined(worker, decision);
    }

    // ---- holding a worker -----------------------------------------------------------------------------------------

    /// Runs tasks until the holder is disturbed.
    void work(Worker& worker, Holder& holder)
    {
        if (const Found first = found(std::exchange(holder.first, {}))) self().act(worker, first);
        while (!self().disturbed(worker)) self().act(worker, find(worker, nullptr));
        push_released(worker);
    }
    /// Runs what there is until the flow is at the target. False: the caller leaves the worker first, see `leaves`.
    bool work_off(Worker& worker, Wait& wait)
    {
        while (!wait.over()) {
            const bool wanted = worker.succession.wanted();
            if (self().leaves(wait, wanted)) return false;
            if (wanted && hand_over(worker, Found{}, wait)) continue;
            const Found found = find(worker, &wait);
            if (found.task && !inside(*found.task, wait.flow)) {
                if (self().leaves_with(wait, found)) return false;
                if (hand_over(worker, found, wait)) continue;
            }
            self().act(worker, found);
        }
        push_released(worker);
        return true;
    }
    /// Another unit takes the worker (and the task); the caller sleeps until its flow is at the target and it has the worker
    /// back. False: nobody can take it over. Then the caller runs the task itself, which is right for all tasks but
    /// those that need something the caller holds.
    bool hand_over(Worker& worker, const Found& found, Wait& wait)
    {
        push_released(worker);
        Holder* next = successor(worker, found.task != nullptr);
        if (!next) return false;
        wait.holder = &self().holder(worker);
        bool away = false;
        step_aside(worker, *next, found, [&] { return away = wait.flow.begin_suspension(wait.target, &wait); });
        if (away) wait.flow.end_suspension(wait.target);
        wait.holder = nullptr;
        return true;
    }
    /// `next` has the worker, and the task to begin with, until the caller has it back; unless the caller need not leave any
    /// more. Then everything is put back, and the task goes to whoever looks next.
    template <class Leave> void step_aside(Worker& worker, Holder& next, const Found& first, Leave&& leave)
    {
        Holder& mine = self().holder(worker);
        if (leave()) {
            mine.waits = true;
            next.first = {first.task, first.offer};
            self().pass(worker, mine, next);
            mine.waits = false;
            return;
        }
        if (!mine.guest) worker.succession.put_back(next);
        if (!first.task) return;
        if (wants_finished_) self().with_policy([&] { scheduler_->finished(*first.task, worker.id, 0); });
        first.task->next = nullptr;
        self().ready(first.task);
    }
    /// Who takes the worker over: one that wants it back unless there is a task to run, a spare one, a new one. Null: none can be
    /// had.
    Holder* successor(Worker& worker, bool has_task)
    {
        if (Holder* displaced = self().displaced_by(worker)) return displaced;
        if (Holder* next = worker.succession.take(!has_task)) return next;
        try {
            return &self().new_holder(worker);
        } catch (const std::exception&) {
            return nullptr;
        }
    }
    /// The holder may go on. Any thread.
    void ask_back(Holder& holder)
    {
        Worker& worker = *holder.worker;
        worker.succession.ask_back(holder, [&] { self().wake_worker(worker); });
    }

    // Of carriers with guests, who may have to leave: does the caller go, since somebody else wants the worker, or rather than
    // run what is not its own? Whose place has it?
    bool leaves(const Wait&, bool /*wanted*/) const { return false; }
    bool leaves_with(const Wait&, const Found&) const { return false; }
    Holder* displaced_by(const Worker&) const { return nullptr; }
    bool can_run(const Worker&, const Task&) const { return true; }
    /// Of carriers with devices that sleep.
    bool cores_alone(const Task*) const { return false; }
    /// Of carriers whose workers leave tasks to the others for a moment.
    bool holds_back(Worker&) const { return false; }
    void locate(Task*) const {}

    // ---- units that complete later --------------------------------------------------------------------------------

    /// As `work`, for the holder of a unit that is given a task and completes it later, up to `slots` of them in flight: while
    /// one kernel runs, the next waits in the unit's queue. The carrier has `start(worker, task)`, which gives the unit the task
    /// and does not wait, and `await(worker)`, which returns when the unit has completed one and the carrier has said so by
    /// `complete`. Returns with nothing in flight.
    void work_ahead(Worker& worker, int slots)
    {
        while (!self().disturbed(worker) || worker.in_flight > 0) {
            const bool room = worker.in_flight < slots && !self().disturbed(worker);
            const Found found = room ? self().look(worker) : Found{};
            if (found) submit_to_unit(worker, *found.task);
            else if (worker.in_flight > 0) self().await(worker);
            else if (const Found later = self().idle(worker, nullptr)) submit_to_unit(worker, *later.task);
        }
        push_released(worker);
    }
    void submit_to_unit(Worker& worker, Task& task)
    {
        if (!task.flow->may_run(task)) return conclude(worker, task, nullptr, 0);
        ++worker.in_flight;
        self().start(worker, task);
    }
    /// The unit is done with the task; by the worker's holder, in whatever order its tasks end.
    void complete(Worker& worker, Task& task, std::exception_ptr failure, Seconds took)
    {
        --worker.in_flight;
        conclude(worker, task, std::move(failure), took);
    }

    // ---- the end of a task ----------------------------------------------------------------------------------------

    /// The task is over; `took`: how long it ran, 0 for one that must not run any more. What it released waits for the holder's
    /// next look, which follows at once (see push_released).
    void conclude(Worker& worker, Task& task, std::exception_ptr failure, Seconds took)
    {
        if (wants_finished_) self().with_policy([&] { scheduler_->finished(task, worker.id, took); });
        if (Task* chain = task.flow->finish(task, std::move(failure))) *worker.released_end() = chain;
    }

    NodeBinding binding_;
    Overflow overflow_;
    std::unique_ptr<Scheduler> scheduler_;
    UndiscoveredFlows undiscovered_;
    bool concurrent_ = false, bounded_ = false, wakes_all_ = false, wants_finished_ = false; ///< what the policy answered

    static Found found(const FirstTask& first)
    {
        Found found;
        found.task = first.task;
        found.offer = first.offer;
        return found;
    }

private:
    Carrier& self() { return static_cast<Carrier&>(*this); }
    auto for_worker(const Worker& worker) const
    {
        return [this, &worker](const Task& task) { return binding_.allows(worker.id, task.node); };
    }
    Found find(Worker& worker, Wait* wait)
    {
        worker.awaited = wait ? &wait->flow : nullptr;
        const bool looks = wait || worker.released || !self().holds_back(worker);
        const Found found = looks ? self().look(worker) : Found{};
        return found ? found : self().idle(worker, wait);
    }
    bool has_room(const Worker& worker)
    {
        bool room = false;
        self().with_policy([&] { room = scheduler_->has_room(worker.id); });
        return room;
    }
};

} // namespace trencadis
