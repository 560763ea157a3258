#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <sched.h>

namespace trencadis {

namespace {

constexpr std::int64_t stall_ns = 20'000;         ///< standing still for so long is more than an interrupt
constexpr std::int64_t turn_ns = 500'000;         ///< for so long: another process has its turn, and will have more
constexpr std::int64_t wary_for_ns = 200'000'000; ///< who was held up is likely to be again
constexpr int looks = 4;                          ///< at other workers at a time

} // namespace

/// Says which thread has the worker now. A guest's is the program's own, and moved by nobody.
void NativeEngine::introduce(Worker& worker) const
{
    const ThreadHandle thread = position.holder->guest ? ThreadHandle{} : ThreadHandle::mine();
    worker.thread.store(thread.id, std::memory_order_relaxed);
    worker.clock.store(thread.clock, std::memory_order_relaxed);
}

/// Can its thread be given another core for a while? One that belongs to no core is moved by the system anyway.
bool NativeEngine::movable(const Worker& worker) const
{
    return worker.place.core() >= 0 && worker.place.slow == 1 && parts_.threads->keeps_units();
}

/// Lately, so it is likely to be again.
bool NativeEngine::is_held_up(Worker& worker) const
{
    const std::int64_t since = worker.held_up_ns.load(std::memory_order_relaxed);
    if (since == 0) return false;
    if (now_ns() - since < wary_for_ns) return true;
    worker.held_up_ns.store(0, std::memory_order_relaxed);
    return false;
}

/// One that is often held up itself would use up for it what it gets of its core, which is no place for others either.
bool NativeEngine::watches_others(Worker& worker) const
{
    if (parts_.relieving == Relieving::never || workers() == 1 || !movable(worker)) return false;
    return parts_.relieving == Relieving::always || !is_held_up(worker);
}

bool NativeEngine::somebody_runs(const Worker& but) const
{
    return std::any_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
        return worker.get() != &but && worker->runs_since_ns.load(std::memory_order_relaxed) != 0;
    });
}

/// For a worker with nothing to do: looks at some of the others, those of its memory node. A thread that runs a task while its processor
/// time stands still waits for its core, or the task itself waits for something; to move that one is in vain and does no harm.
void NativeEngine::relieve_another(Worker& worker)
{
    for (int i = std::min(looks, workers()); i > 0; --i) {
        worker.looked_at = (worker.looked_at + 1) % workers();
        Worker& other = *workers_[worker.looked_at];
        if (&other == &worker || !movable(other) || other.runs_since_ns.load(std::memory_order_relaxed) == 0) continue;
        if (other.place.core() == worker.place.core() || (binding_.splits() && other.place.node != worker.place.node)) continue;
        if (parts_.relieving == Relieving::always || stands_still(worker, other)) return give_core(worker, other);
    }
}

bool NativeEngine::stands_still(Worker& worker, Worker& other) const
{
    const ThreadHandle thread{other.thread.load(std::memory_order_relaxed), other.clock.load(std::memory_order_relaxed)};
    const std::int64_t cpu_ns = thread.cpu_ns(), now = now_ns();
    Observation& seen = worker.seen[other.id];
    if (cpu_ns < 0 || cpu_ns != seen.cpu_ns || thread != seen.thread) {
        seen = {thread, cpu_ns, now};
        return false;
    }
    if (now - seen.since_ns > turn_ns) other.held_up_ns.store(now, std::memory_order_relaxed);
    return now - seen.since_ns > stall_ns;
}

/// The other one goes on there at once, wherever in its task it is, while this one sleeps.
void NativeEngine::give_core(Worker& worker, Worker& other)
{
    using enum Worker::Whereabouts;
    Worker::Whereabouts before = at_home;
    if (!other.whereabouts.compare_exchange_strong(before, being_moved, std::memory_order_acquire)) return;
    const ThreadHandle thread{other.thread.load(std::memory_order_relaxed), 0};
    const bool moved = thread.move_to(worker.place.core());
    other.whereabouts.store(moved ? away : at_home, std::memory_order_release);
    if (moved) add(worker.reliefs, 1);
}

/// Between tasks: the core is its owner's again. Whoever waits for what the worker has released need not wait for the worker's core too.
void NativeEngine::go_home(Worker& worker)
{
    const ThreadHandle thread = ThreadHandle::mine();
    if (thread.id != worker.thread.load(std::memory_order_relaxed)) return;
    push_released(worker);
    thread.move_to(worker.place.core());
    worker.whereabouts.store(Worker::Whereabouts::at_home, std::memory_order_release);
}

/// From now on nobody moves its thread, which is about to end.
void NativeEngine::stay(Worker& worker)
{
    using enum Worker::Whereabouts;
    Worker::Whereabouts now = worker.whereabouts.load(std::memory_order_relaxed);
    while (now == being_moved || !worker.whereabouts.compare_exchange_weak(now, fixed, std::memory_order_acquire)) {
        if (now == being_moved) sched_yield();
        now = worker.whereabouts.load(std::memory_order_relaxed);
    }
}

} // namespace trencadis
