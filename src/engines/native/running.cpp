#include "engines/native/busy.hpp"
#include "engines/native/engine.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <optional>

namespace trencadis {

void NativeEngine::act(Worker& worker, Found found)
{
    if (found.task || found.share) line_cost_.read(worker.id);
    if (found.task) execute(worker, *found.task, found.offer);
    else if (found.share) run_shared(worker, *found.share, false);
    else if (found.call) join(worker, *found.call);
}

void NativeEngine::execute(Worker& worker, Task& task, bool offer)
{
    if (!task.flow->may_run(task)) return conclude(worker, task, nullptr, 0);
    if (!task.codelet->core) return refuse(worker, task);
    Index chunks = 1;
    try {
        const SameSums sums(task.flow->float_modes().same_sums());
        chunks = units_[std::size_t(worker.id)].chunks(*task.codelet, task.args);
    } catch (...) { // kernels are looked up at their first use
        return conclude(worker, task, std::current_exception(), 0);
    }
    // Cutting an operation up costs some of its speed, so it is done only when somebody has nothing to do or soon will have.
    const bool open = chunks > 1 && (offer || somebody_idle(task));
    const Busy busy(worker, task, run_time(task, worker.id) + (devices_ ? transfer_time(task, worker.id) : 0));
    if (devices_ && !fetch(worker, task)) return;
    Share* share = open ? worker.unused_share() : nullptr;
    if (!share) return run_alone(worker, task, chunks);
    share->open(task, chunks);
    worker.offer.store(share, std::memory_order_release);
    offers_.fetch_add(1, std::memory_order_relaxed);
    wake(binds(task.node) ? workers() : static_cast<int>(std::min<Index>(chunks - 1, workers())), true);
    run_shared(worker, *share, true);
}

void NativeEngine::run_alone(Worker& worker, Task& task, Index chunks)
{
    SharedWork work(chunks, chunks);
    std::exception_ptr failure;
    const Segment outer = worker.stopwatch.begin(&task, EventKind::task, account(worker));
    try {
        run_body(worker, task, work);
    } catch (...) {
        failure = std::current_exception();
    }
    const std::int64_t ns = worker.stopwatch.end(outer, account(worker));
    observe(worker, task, 1, ns);
    add(worker.tasks, 1);
    worker.reluctance.ran(ns, worker.stopwatch.now());
    conclude(worker, task, std::move(failure), ns * 1e-9);
}

void NativeEngine::run_shared(Worker& worker, Share& share, bool owner)
{
    Task& task = share.task();
    const Segment outer = worker.stopwatch.begin(&task, owner ? EventKind::task : EventKind::share, account(worker));
    Index taken = 0;
    std::optional<Relief::Joined> joined;
    if (!owner) joined.emplace(worker.relief);
    try {
        taken = run_body(worker, task, share.work(), chunks_at_a_time(worker, task), !owner);
    } catch (...) {
        share.fail(std::current_exception());
    }
    const std::int64_t ns = worker.stopwatch.end(outer, account(worker));
    observe(worker, task, double(taken) / double(share.work().count()), ns);
    add(owner ? worker.tasks : worker.joined, 1);
    worker.reluctance.ran(ns, worker.stopwatch.now());
    if (owner) {
        worker.offer.store(nullptr, std::memory_order_relaxed);
        offers_.fetch_sub(1, std::memory_order_relaxed);
    }
    joined.reset();
    if (share.leave(owner)) conclude(worker, task, share.retire(), ns * 1e-9);
}

/// The task's own code, and what it has submitted inside. Returns how many chunks this worker had.
Index NativeEngine::run_body(Worker& worker, Task& task, SharedWork& work, Index at_a_time, bool joined)
{
    const FloatScope modes(task.flow->float_modes());
    if (worker.place.slow < 1) {
        SlowPace pace(worker.place.slow);
        Team team(work, &pace, at_a_time, joined);
        TaskFlowContext context(task, team, worker.id);
        task.codelet->core(task.args, context);
        pace.between_chunks();
        context.finish_children();
        task.flow->note_raised(modes.raised());
        return team.taken();
    }
    Team team(work, nullptr, at_a_time, joined);
    TaskFlowContext context(task, team, worker.id);
    task.codelet->core(task.args, context);
    context.finish_children();
    task.flow->note_raised(modes.raised());
    return team.taken();
}

/// One for a core that is slow now, so that it holds little back; two for the others.
Index NativeEngine::chunks_at_a_time(const Worker& worker, const Task& task) const
{
    constexpr double slow = 1.5;
    return task.flops > 0 && run_time(task, worker.id) > slow * estimate(*task.codelet, task.flops) ? 1 : 2;
}

/// Learns from a run of a part of the task, 0 to 1.
void NativeEngine::observe(const Worker& worker, const Task& task, double part, std::int64_t ns)
{
    if (task.flops > 0 && part > 0) speeds_.observe(worker.id, *task.codelet, task.flops, ns * 1e-9, now(), part);
}

} // namespace trencadis
