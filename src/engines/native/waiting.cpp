#include "graph/waiting.hpp"
#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

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

void NativeEngine::poll_while_waiting(const std::function<bool()>* poll)
{
    position.poll = poll;
    if (poll) position.next_poll_ns = now_ns() + poll_interval_ns;
}

/// Asks whether the caller wants to go on, if that was not asked lately; if not, the flow is cancelled and nobody is asked again.
void NativeEngine::ask_caller(TaskFlow& flow)
{
    const std::int64_t now = now_ns();
    if (!position.poll || now < position.next_poll_ns) return;
    position.next_poll_ns = now + poll_interval_ns;
    if (!(*position.poll)()) return;
    position.poll = nullptr;
    TaskFlow* call = &flow;
    while (call->parent()) call = call->parent();
    call->cancel();
}

void NativeEngine::drain(TaskFlow& flow, std::int64_t target)
{
    if (flow.pending() <= target) return;
    Wait wait{flow, target, {}};
    wait.waiter.engine = position.engine;
    wait.waiter.worker = here();
    if (wait.waiter.worker) wait.waiter.bed = bed_of(*position.holder);
    if (wait.waiter.worker) return drain_on(*wait.waiter.worker, wait);
    // A task of another engine leaves its core to that one's tasks. Where the caller is to be asked now and then, it stays awake.
    if (position.engine && !position.poll && position.engine->lend(wait)) return;
    drain_outside(wait);
}

void NativeEngine::drain_outside(Wait& wait)
{
    ask_caller(wait.flow);
    if (!wait.flow.begin_suspension(wait.target, &wait.waiter)) return;
    while (!wait.waiter.parker.park_for(position.poll ? poll_interval_ns : -1)) ask_caller(wait.flow);
    wait.flow.end_suspension(wait.target);
}

/// The worker's time is nobody's while the body, or another unit meanwhile, looks for work.
template <class Body> auto NativeEngine::off_the_clock(Worker& worker, Body&& body)
{
    const FloatScope standard_modes{FloatModes()};
    const Segment outer = worker.stopwatch.begin(nullptr, EventKind::task, account(worker));
    const std::int64_t since = worker.runs_since_ns.exchange(0, std::memory_order_relaxed);
    const auto result = body();
    worker.runs_since_ns.store(since, std::memory_order_relaxed);
    worker.stopwatch.end(outer, account(worker));
    return result;
}

void NativeEngine::drain_on(Worker& worker, Wait& wait)
{
    if (off_the_clock(worker, [&] { return work_off(worker, wait); })) return;
    Guest& guest = *position.holder->guest;
    depart(guest, std::exchange(guest.first, nullptr));
    wait.waiter.worker = nullptr;
    drain_outside(wait);
}

/// Runs what there is until the flow is at the target. False: the caller is a guest and is to leave first, with the task that it may
/// have found, which is somebody else's.
bool NativeEngine::work_off(Worker& worker, Wait& wait)
{
    Guest* const guest = position.holder->guest;
    const bool may_leave = guest && &wait.flow == &guest->flow;
    while (!wait.over()) {
        const bool wanted = worker.has_resumable.load(std::memory_order_acquire);
        if (may_leave && (wanted || wants_to_leave(wait))) return false;
        if (wanted && hand_over(worker, nullptr, wait)) continue;
        Found found = look(worker);
        if (!found) found = idle(worker, &wait);
        if (found.task && !inside(*found.task, wait.flow)) {
            if (may_leave) return guest->first = found.task, false;
            if (hand_over(worker, found.task, wait)) continue;
        }
        act(worker, found);
    }
    push_released(worker);
    return true;
}

/// The caller is a task of this engine and waits for a flow of another one. False: it keeps its worker.
bool NativeEngine::lend(Wait& wait)
{
    constexpr int most = 16; // each has a unit, and would have them all begin what waits again
    Worker& worker = *position.worker;
    if (worker.lent == most) return false;
    ++worker.lent;
    const bool lent = off_the_clock(worker, [&] { return hand_over(worker, nullptr, wait); });
    --worker.lent;
    return lent;
}

/// The unit that takes the worker over: one that wants it back unless there is a task to run, a spare one, a new one. Null: none can
/// be had.
Holder* NativeEngine::successor(Worker& worker, bool has_task)
{
    if (Guest* const guest = position.holder->guest) return guest->displaced; // it will see who else wants the worker
    {
        std::lock_guard lock(worker.lock);
        // A guest comes back in the place of a unit that has nothing of its own to go on with: see hold.
        const bool resume = !has_task && !worker.resumable.empty() && !worker.resumable.back()->guest;
        auto& from = resume ? worker.resumable : worker.spare;
        if (!from.empty()) {
            Holder* holder = from.back();
            from.pop_back();
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
            return holder;
        }
    }
    try {
        return &new_holder(worker);
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// `next` has the worker, and the task to begin with, until the caller has it back; unless the caller need not leave any more.
template <class Leave> void NativeEngine::step_aside(Worker& worker, Holder& next, Task* first, Leave&& leave)
{
    Holder& self = *position.holder;
    if (leave()) {
        self.waits = true;
        next.first = first;
        const Segment mine = worker.stopwatch.take_out();
        pass_worker(self, next);
        worker.stopwatch.put_back(mine);
        self.waits = false;
        return;
    }
    // Put everything back; the task goes to whoever looks next.
    if (!self.guest) {
        std::lock_guard lock(worker.lock);
        (next.waits ? worker.resumable : worker.spare).push_back(&next);
        worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
    }
    if (first) {
        first->next = nullptr;
        ready(first);
    }
}

/// Another unit takes the worker (and the task); the caller sleeps until its flow is at the target and it has the worker
/// back. False: nobody can take it over. Then the caller runs the task itself, which is right for all tasks but
/// those that need something the caller holds.
bool NativeEngine::hand_over(Worker& worker, Task* first, Wait& wait)
{
    push_released(worker);
    Holder* next = successor(worker, first != nullptr);
    if (!next) return false;
    wait.waiter.holder = position.holder;
    bool away = false;
    step_aside(worker, *next, first, [&] { return away = wait.flow.begin_suspension(wait.target, &wait.waiter); });
    if (away) wait.flow.end_suspension(wait.target);
    wait.waiter.holder = nullptr;
    return true;
}

bool NativeEngine::leave_core(Sleeper& sleeper)
{
    Worker& worker = *position.worker;
    push_released(worker);
    Holder* next = successor(worker, false);
    if (!next) return false;
    sleeper.place = position.holder;
    return off_the_clock(worker, [&] {
        step_aside(worker, *next, nullptr, [&] { return sleeper.leave(); });
        return true;
    });
}

void NativeEngine::take_back(Sleeper& sleeper)
{
    Holder& holder = *static_cast<Holder*>(sleeper.place);
    ask_back(*holder.worker, holder);
}

/// The holder may go on. Any thread.
void NativeEngine::ask_back(Worker& worker, Holder& holder)
{
    // As soon as the lock is free the holder may go on and the engine may go away; releasing the lock is the last access.
    std::lock_guard lock(worker.lock);
    worker.resumable.push_back(&holder);
    worker.has_resumable.store(true, std::memory_order_release);
    wake_worker(worker);
}

void NativeEngine::wake_owner(TaskFlow& flow)
{
    Waiter& waiter = *static_cast<Waiter*>(flow.waiter());
    if (Holder* holder = waiter.holder) return waiter.engine->ask_back(*holder->worker, *holder); // this engine, or one that lent
    if (waiter.worker) waiter.engine->sleepers_.notify_one(waiter.bed);                           // it sleeps as an idle worker
    waiter.parker.unpark();
}

} // namespace trencadis
