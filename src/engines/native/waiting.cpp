#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"

#include <mutex>

namespace trencadis {

namespace {

constexpr std::int64_t poll_interval_ns = 50'000'000;

bool inside(const Task& task, const TaskFlow& flow)
{
    for (const TaskFlow* f = task.flow; f; f = f->parent())
        if (f == &flow) return true;
    return false;
}

} // namespace

void NativeEngine::poll_while_waiting(const std::function<bool()>* poll) { position.poll = poll; }

void NativeEngine::drain(TaskFlow& flow, std::int64_t target)
{
    if (flow.pending() <= target) return;
    Wait wait{flow, target, {}};
    Worker* worker = here();
    wait.waiter.worker = worker;
    if (worker) drain_on(*worker, wait);
    else drain_outside(wait);
}

void NativeEngine::drain_outside(Wait& wait)
{
    if (!wait.flow.begin_suspension(wait.target, &wait.waiter)) return;
    bool asked = position.poll == nullptr;
    while (!wait.waiter.parker.park_for(asked ? -1 : poll_interval_ns)) {
        if (asked || !(*position.poll)()) continue;
        asked = true;
        wait.flow.cancel();
    }
    wait.flow.end_suspension(wait.target);
}

void NativeEngine::drain_on(Worker& worker, Wait& wait)
{
    const Segment outer = worker.stopwatch.begin(nullptr, EventKind::task, account(worker));
    const std::int64_t since = worker.runs_since_ns.exchange(0, std::memory_order_relaxed); // it looks for work
    while (!wait.over()) {
        if (worker.has_resumable.load(std::memory_order_acquire) && hand_over(worker, nullptr, wait)) continue;
        Found found = look(worker);
        if (!found) found = idle(worker, &wait);
        if (found.task && !inside(*found.task, wait.flow) && hand_over(worker, found.task, wait)) continue;
        act(worker, found);
    }
    push_released(worker);
    worker.runs_since_ns.store(since, std::memory_order_relaxed);
    worker.stopwatch.end(outer, account(worker));
}

/// The unit that takes the worker over: one that wants it back first (unless there is a task to run), a spare one, a new one.
Holder* NativeEngine::successor(Worker& worker, Task* first)
{
    {
        std::lock_guard lock(worker.lock);
        auto& from = !first && !worker.resumable.empty() ? worker.resumable : worker.spare;
        if (!from.empty()) {
            Holder* holder = from.back();
            from.pop_back();
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
            return holder;
        }
    }
    if (!first) return nullptr;
    try {
        return &new_holder(worker);
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// Another unit takes the worker (and the task); the caller sleeps until its flow is at the target and it has the worker
/// back. False: nobody can take it over. Then the caller runs the task itself, which is right for all tasks but
/// those that need something the caller holds.
bool NativeEngine::hand_over(Worker& worker, Task* first, Wait& wait)
{
    push_released(worker);
    Holder* next = successor(worker, first);
    if (!next) return false;
    Holder& self = *position.holder;
    wait.waiter.holder = &self;
    if (wait.flow.begin_suspension(wait.target, &wait.waiter)) {
        const Segment mine = worker.stopwatch.take_out();
        next->first = first;
        next->unit->resume();
        self.unit->suspend();
        worker.stopwatch.put_back(mine);
        wait.flow.end_suspension(wait.target);
    } else {
        // The flow came down meanwhile. Put everything back; the task goes to whoever looks next.
        {
            std::lock_guard lock(worker.lock);
            (first ? worker.spare : worker.resumable).push_back(next);
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
        }
        if (first) {
            first->next = nullptr;
            ready(first);
        }
    }
    wait.waiter.holder = nullptr;
    return true;
}

void NativeEngine::wake_owner(TaskFlow& flow)
{
    Waiter& waiter = *static_cast<Waiter*>(flow.waiter());
    if (Holder* holder = waiter.holder) {
        Worker& worker = *holder->worker;
        {
            std::lock_guard lock(worker.lock);
            worker.resumable.push_back(holder);
            worker.has_resumable.store(true, std::memory_order_release);
        }
        changed_.notify_all();
        return;
    }
    if (waiter.worker) changed_.notify_all(); // it sleeps as an idle worker
    waiter.parker.unpark();
}

} // namespace trencadis
