#include "engines/native/busy.hpp"
#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <mutex>

namespace trencadis {

/// On the stack of the task that submits it. That one cannot hold what this one needs: it waits for it in any case.
bool NativeEngine::run_here(Task& task)
{
    Worker* worker = here();
    if (!worker || !allowed(*worker, task.node)) return false;
    execute(*worker, task);
    push_released(*worker);
    return true;
}

void NativeEngine::act(Worker& worker, Found found)
{
    if (found.task) execute(worker, *found.task, found.offer);
    else if (found.share) run_shared(worker, {found.share->task(), found.share});
    else if (found.taken_over) carry_on(worker);
}

void NativeEngine::execute(Worker& worker, Task& task, bool offer)
{
    if (!task.flow->may_run(task)) {
        if (wants_finished_) tell_finished(worker, task, 0);
        return conclude(worker, task, nullptr);
    }
    const Index chunks = task.codelet->chunks ? task.codelet->chunks(task.args) : 1;
    // Cutting an operation up costs some of its speed, so it is done only when somebody has nothing to do or soon will have.
    const bool open = chunks > 1 && (offer || somebody_idle(task));
    Share* share = open ? worker.unused_share() : nullptr;
    const Busy busy(worker, task, run_time(task, worker.id));
    if (!share) return run_alone(worker, {task}, chunks);
    share->open(task, chunks);
    worker.offer.store(share, std::memory_order_release);
    offers_.fetch_add(1, std::memory_order_relaxed);
    wake(binds(task.node) ? workers() : static_cast<int>(std::min<Index>(chunks - 1, workers())));
    run_shared(worker, {task, share, true});
}

void NativeEngine::run_alone(Worker& worker, Part part, Index chunks)
{
    Task& task = part.task;
    const Kernel kernel{task.codelet, task.flops};
    SharedWork work(chunks, chunks);
    Outcome outcome;
    std::exception_ptr failure;
    const Segment outer = worker.stopwatch.begin(&task, EventKind::task, account(worker));
    try {
        outcome = run_body(worker, part, work);
    } catch (...) {
        failure = std::current_exception();
    }
    if (outcome.left_behind) return leave_behind(worker, outer, kernel, 1);
    const std::int64_t ns = worker.stopwatch.end(outer, account(worker));
    observe(worker, kernel, 1, ns);
    add(worker.tasks, 1);
    if (wants_finished_) tell_finished(worker, task, ns);
    conclude(worker, task, std::move(failure));
}

void NativeEngine::run_shared(Worker& worker, Part part)
{
    Task& task = part.task;
    Share& share = *part.share;
    const Kernel kernel{task.codelet, task.flops};
    const auto count = double(share.work().count());
    Outcome outcome;
    const Segment outer = worker.stopwatch.begin(&task, part.owner ? EventKind::task : EventKind::share, account(worker));
    try {
        outcome = run_body(worker, part, share.work(), chunks_at_a_time(worker, task));
    } catch (...) {
        share.fail(std::current_exception());
    }
    if (outcome.left_behind) return leave_behind(worker, outer, kernel, double(outcome.taken) / count);
    const std::int64_t ns = worker.stopwatch.end(outer, account(worker));
    observe(worker, kernel, double(outcome.taken) / count, ns);
    add(part.owner ? worker.tasks : worker.joined, 1);
    if (part.owner) withdraw(worker, share);
    if (!share.leave(part.owner)) return;
    if (wants_finished_) tell_finished(worker, task, ns);
    conclude(worker, task, share.retire());
}

/// The task is somebody else's, and over perhaps. What its worker did not get done says how fast it is now.
void NativeEngine::leave_behind(Worker& worker, const Segment& outer, const Kernel& kernel, double part)
{
    const std::int64_t ns = worker.stopwatch.abandon(outer);
    if (ns > worker.expected_ns.load(std::memory_order_relaxed))
        observe(worker, kernel, part, ns); // else it may not have got far
    if (recorder_.enabled()) recorder_.record(worker.id, {"held up", 0, now_ns() - ns, now_ns(), 0, EventKind::idle});
}

/// Nobody can join any more. A worker that took over the owner's part has done it already.
void NativeEngine::withdraw(Worker& owner, Share& share)
{
    Share* offered = &share; // the worker that offered it may have been left behind, and offer another one already
    owner.offer.compare_exchange_strong(offered, nullptr, std::memory_order_relaxed);
    if (share.withdraw()) offers_.fetch_sub(1, std::memory_order_relaxed);
}

void NativeEngine::tell_finished(const Worker& worker, const Task& task, std::int64_t ns)
{
    std::lock_guard lock(scheduler_lock_);
    scheduler_->finished(task, worker.id, ns * 1e-9);
}

/// The task's own code, and what it has submitted inside.
NativeEngine::Outcome NativeEngine::run_body(Worker& worker, Part& part, SharedWork& work, Index at_a_time)
{
    Task& task = part.task;
    const FloatScope modes(task.flow->float_modes());
    if (part.prepared) {
        part.prepared->perform_again();
        task.flow->note_raised(modes.raised());
        if (!part.share) return {};
    }
    if (worker.place.slow < 1) {
        SlowPace pace(worker.place.slow);
        Team team(work, &pace, at_a_time, nullptr, part.begun);
        TaskContext context(task, team, worker.id);
        task.codelet->core(task.args, context);
        pace.between_chunks();
        context.finish_children();
        task.flow->note_raised(modes.raised());
        return {team.taken()};
    }
    LeasedPart leased(worker.lease, {&task, part.share, part.owner, task.node});
    const bool wary = !position.holder->guest && is_wary(worker); // a thread of the program is not to be stopped
    Team team(work, nullptr, wary ? 1 : at_a_time, wary ? &leased : nullptr, part.begun);
    TaskContext context(task, team, worker.id);
    task.codelet->core(task.args, context);
    if (team.left_behind()) return {team.taken(), true};
    context.finish_children();
    task.flow->note_raised(modes.raised());
    return {team.taken()};
}

/// One for a core that is slow now, so that it holds little back; two for the others.
Index NativeEngine::chunks_at_a_time(const Worker& worker, const Task& task) const
{
    constexpr double slow = 1.5;
    return task.flops > 0 && run_time(task, worker.id) > slow * estimate(*task.codelet, task.flops) ? 1 : 2;
}

/// Learns from a run of a part of a task, 0 to 1.
void NativeEngine::observe(const Worker& worker, const Kernel& kernel, double part, std::int64_t ns)
{
    if (kernel.flops > 0 && part > 0) speeds_.observe(worker.id, *kernel.codelet, part * kernel.flops, ns * 1e-9, now());
}

/// The task is over. What it released waits for the holder's next look, which follows at once (see push_released).
void NativeEngine::conclude(Worker& worker, Task& task, std::exception_ptr failure)
{
    if (Task* chain = task.flow->finish(task, std::move(failure))) *worker.released_end() = chain;
}

} // namespace trencadis
