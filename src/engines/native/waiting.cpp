#include "graph/waiting.hpp"
#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

#include <utility>

namespace trencadis {

namespace {

constexpr std::int64_t poll_interval_ns = 50'000'000;

} // namespace

const std::function<bool()>* NativeEngine::poll_while_waiting(const std::function<bool()>* poll)
{
    if (poll) position.next_poll_ns = now_ns() + poll_interval_ns;
    return std::exchange(position.poll, poll);
}

/// Asks whether the caller wants to go on, if that was not asked lately; if not, the flow is cancelled and nobody is asked again.
void NativeEngine::ask_caller(TaskFlow& flow)
{
    const std::int64_t now = now_ns();
    if (!position.poll || now < position.next_poll_ns) return;
    position.next_poll_ns = now + poll_interval_ns;
    if (!(*position.poll)()) return;
    position.poll = nullptr;
    cancel_call(flow);
}

void NativeEngine::drain(TaskFlow& flow, std::int64_t target)
{
    if (flow.pending() > target) {
        if (devices_ && target == 0) devices_->expect_no_more(flow);
        drain_tasks(flow, target);
    }
    if (!devices_ || target != 0) return;
    const auto stop = [&] {
        ask_caller(flow);
        return flow.cancelled();
    };
    devices_->settle(flow, position.poll ? std::function<bool()>(stop) : nullptr);
}

void NativeEngine::drain_tasks(TaskFlow& flow, std::int64_t target)
{
    Wait wait{{flow, target}};
    wait.engine = position.engine;
    wait.worker = here();
    if (wait.worker) wait.bed = bed_of(*position.holder);
    if (wait.worker) return drain_on(*wait.worker, wait);
    // A task of another engine leaves its core to that one's tasks. Where the caller is to be asked now and then, it stays awake.
    if (position.engine && !position.poll && position.engine->lend(wait)) return;
    drain_outside(wait);
}

void NativeEngine::drain_outside(Wait& wait)
{
    ask_caller(wait.flow);
    if (!wait.flow.begin_suspension(wait.target, &wait)) return;
    while (!wait.parker.park_for(position.poll ? poll_interval_ns : -1)) ask_caller(wait.flow);
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
    const int own = bed_of(*guest.displaced);
    depart(guest, std::exchange(guest.first, {}));
    sleepers_.notify_one(own); // the call goes on, and whose place it was looks after those who work for it
    wait.worker = nullptr;
    drain_outside(wait);
}

/// The caller is a task of this engine and waits for a flow of another one. False: it keeps its worker.
bool NativeEngine::lend(Wait& wait)
{
    constexpr int most = 16; // each has a unit, and would have them all begin what waits again
    Worker& worker = *position.worker;
    if (worker.lent == most) return false;
    ++worker.lent;
    const bool lent = off_the_clock(worker, [&] { return hand_over(worker, {}, wait); });
    --worker.lent;
    return lent;
}

bool NativeEngine::leave_core(Sleeper& sleeper)
{
    Worker& worker = *position.worker;
    push_released(worker);
    Holder* next = successor(worker, false);
    if (!next) return false;
    sleeper.place = position.holder;
    return off_the_clock(worker, [&] {
        step_aside(worker, *next, {}, [&] { return sleeper.leave(); });
        return true;
    });
}

void NativeEngine::take_back(Sleeper& sleeper) { ask_back(*static_cast<Holder*>(sleeper.place)); }

void NativeEngine::wake_owner(TaskFlow& flow)
{
    Wait& wait = *static_cast<Wait*>(flow.waiter());
    if (wait.holder) return wait.engine->ask_back(*wait.holder);  // this engine, or one that lent
    if (wait.worker) wait.engine->sleepers_.notify_one(wait.bed); // it sleeps as an idle worker
    wait.parker.unpark();
}

} // namespace trencadis
