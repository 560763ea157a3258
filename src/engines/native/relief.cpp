#include "engines/native/busy.hpp"
#include "engines/native/engine.hpp"
#include "observe/clock.hpp"

#include <algorithm>

namespace trencadis {

namespace {

constexpr std::int64_t stall_ns = 20'000;         ///< standing still for so long is more than an interrupt
constexpr std::int64_t turn_ns = 500'000;         ///< for so long: another process has its turn, and will have more
constexpr std::int64_t wary_for_ns = 200'000'000; ///< who was held up is likely to be again
constexpr int looks = 4;                          ///< at other workers at a time

} // namespace

/// Says which thread has the worker now.
void NativeEngine::introduce(Worker& worker) const
{
    const ThreadHandle thread = ThreadHandle::mine();
    worker.thread.store(thread.id, std::memory_order_relaxed);
    worker.clock.store(thread.clock, std::memory_order_relaxed);
}

/// Should the worker do its work in the restartable way?
bool NativeEngine::is_wary(Worker& worker) const
{
    if (parts_.relieving == Relieving::always) return prepare_stopping();
    const std::int64_t since = worker.held_up_ns.load(std::memory_order_relaxed);
    if (since == 0) return false;
    if (now_ns() - since < wary_for_ns) return prepare_stopping();
    worker.held_up_ns.store(0, std::memory_order_relaxed);
    return false;
}

/// One that is often held up itself would use up for it what it gets of its core.
bool NativeEngine::watches_others(Worker& worker) const
{
    if (parts_.relieving == Relieving::never || workers() == 1) return false;
    return parts_.relieving == Relieving::always || !is_wary(worker);
}

bool NativeEngine::somebody_runs(const Worker& but) const
{
    return std::any_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
        return worker.get() != &but && worker->runs_since_ns.load(std::memory_order_relaxed) != 0;
    });
}

/// For a worker with nothing to do: looks at some of the others. A thread that runs a task while its processor time stands still waits
/// for its core. Readings may be of a thread that has just given the worker away; then the worst is that the worker is wary in vain.
NativeEngine::Found NativeEngine::take_over(Worker& worker)
{
    Found found;
    for (int i = std::min(looks, workers()); i > 0 && !found; --i) {
        worker.looked_at = (worker.looked_at + 1) % workers();
        Worker& other = *workers_[worker.looked_at];
        if (&other == &worker || other.place.slow < 1 || other.runs_since_ns.load(std::memory_order_relaxed) == 0) continue;
        if (parts_.relieving == Relieving::always || stands_still(worker, other)) found.taken_over = take_from(worker, other);
    }
    return found;
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

bool NativeEngine::take_from(Worker& worker, Worker& other)
{
    const auto sight = other.lease.look();
    if (!sight || !allowed(worker, sight->terms.node) || !can_stop_threads() || !other.lease.take(*sight)) return false;
    worker.taken_over = {sight->terms, std::unique_ptr<Restartable>(sight->work)};
    add(worker.reliefs, 1);
    if (sight->terms.owner) withdraw(other, *sight->terms.share);
    return true;
}

/// In the place of the worker that was held up.
void NativeEngine::carry_on(Worker& worker)
{
    TakenOver over = std::move(worker.taken_over);
    Task& task = *over.terms.task;
    const Chunks begun = over.work ? Chunks{0, 0} : over.terms.chunks;
    const Busy busy(worker, task, run_time(task, worker.id));
    Part part{task, over.terms.share, over.terms.owner, begun, std::move(over.work)};
    if (part.share) return run_shared(worker, std::move(part));
    part.begun = {0, 0}; // all of it
    run_alone(worker, std::move(part), task.codelet->chunks ? task.codelet->chunks(task.args) : 1);
}

} // namespace trencadis
