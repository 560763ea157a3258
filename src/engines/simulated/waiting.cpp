// Who acts, who waits, who is given what.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"

#include <algorithm>

namespace trencadis::simulated {
// ---- actors ---------------------------------------------------------------------------------------------------

VirtualTime::Actor VirtualEngine::start(Worker* worker, std::function<void()> body)
{
    const VirtualTime::Actor actor = time_->start(std::move(body));
    if (by_actor_.size() <= static_cast<std::size_t>(actor)) by_actor_.resize(actor + 1, nullptr);
    by_actor_[actor] = worker;
    return actor;
}

Worker* VirtualEngine::here() const { return running_ ? by_actor_[time_->self()] : nullptr; }

/// What was put off is told to the others; they may act before this returns.
void VirtualEngine::send_wakes()
{
    while (!wakes_.empty() || !interrupts_.empty()) {
        for (const VirtualTime::Actor actor : std::exchange(interrupts_, {})) time_->interrupt(actor);
        for (const VirtualTime::Actor actor : std::exchange(wakes_, {})) time_->resume(actor);
    }
}

void VirtualEngine::pause()
{
    send_wakes();
    time_->suspend();
}

/// It begins when it is given the worker.
Holder& VirtualEngine::new_holder(Worker& worker)
{
    holders_.push_back(std::make_unique<Holder>(Holder{{&worker}}));
    return *holders_.back();
}

void VirtualEngine::begin(Holder& holder)
{
    holder.worker->holder = &holder;
    holder.actor = start(holder.worker, [this, &holder] { hold(holder); });
}

void VirtualEngine::pass(Worker& worker, Holder&, Holder& next)
{
    worker.holder = &next;
    if (next.actor < 0) begin(next);
    else wake(next);
    pause();
}

/// A holder's life: hold the worker, give it back to one that waited, be spare, hold it again.
void VirtualEngine::hold(Holder& holder)
{
    Worker& worker = *holder.worker;
    while (!stop_) {
        if (worker.device >= 0) work_ahead(worker, 1);
        else work(worker, holder);
        if (stop_) return send_wakes();
        pass(worker, holder, worker.succession.give_back(holder));
    }
}

// ---- waiting --------------------------------------------------------------------------------------------------

void VirtualEngine::drain(TaskFlow& flow, std::int64_t target)
{
    if (stuck_ || flow.pending() <= target) return;
    Wait wait{{flow, target}};
    wait.worker = here();
    if (wait.worker) work_off(*wait.worker, wait);
    else run_all(wait);
}

void VirtualEngine::wake_owner(TaskFlow& flow)
{
    Wait& wait = *static_cast<Wait*>(flow.waiter());
    if (!wait.worker) return stop_all();
    if (wait.holder) return ask_back(*wait.holder);
    wake_worker(*wait.worker);
}

void VirtualEngine::wake_worker(Worker& worker)
{
    if (!worker.idle) return;
    no_longer_idle(worker);
    wake(*worker.holder);
}

/// Called by the thread that the simulation is started from: the actors act until its flow is at the target.
void VirtualEngine::run_all(Wait& wait)
{
    if (!wait.flow.begin_suspension(wait.target, &wait)) return;
    stop_ = false;
    // The first worker begins last, when the others are already looking for work.
    for (std::size_t w = 1; w < workers_.size(); ++w) begin(new_holder(*workers_[w]));
    begin(new_holder(*workers_.front()));
    workers_.front()->holder->first = {std::exchange(root_, nullptr)};
    if (options_.remap_s > 0) mapper_ = start(nullptr, [this] { keep_mapping(); });
    running_ = true;
    const bool ended = time_->run();
    running_ = false;
    if (!ended) {
        stuck_ = true;
        report_stuck();
    }
    wait.flow.end_suspension(wait.target);
    holders_.clear();
    alarm_ = mapper_ = -1;
    for (const auto& worker : workers_) worker->succession.clear();
}

void VirtualEngine::stop_all()
{
    stop_ = true;
    makespan_ = now();
    joules_.clear();
    if (has_energy_)
        for (std::size_t host = 0; host < host_speed_.size(); ++host) joules_.push_back(time_->energy(static_cast<int>(host)));
    for (const auto& holder : holders_)
        if (holder->actor >= 0) wake(*holder); // one that was not needed after all has never begun
    for (const VirtualTime::Actor actor : {alarm_, mapper_})
        if (actor >= 0) wakes_.push_back(actor);
    for (const Mover& mover : movers_)
        if (mover.actor >= 0) wakes_.push_back(mover.actor);
    for (const Crew& crew : crews_)
        for (const Carrier& carrier : crew.carriers)
            if (carrier.actor >= 0) wakes_.push_back(carrier.actor);
}

/// Says what the simulation waits for.
void VirtualEngine::report_stuck()
{
    std::string message = "the simulation stands still at " + std::to_string(now()) + " s: ";
    const Task* first = nullptr;
    for (const Task* task : queued_)
        if (!first || std::pair(task->depth, task->order.load()) < std::pair(first->depth, first->order.load())) first = task;
    if (first)
        message += std::to_string(queued_.size()) + " tasks are ready and scheduler '" + parts_.scheduler.text +
                   "' gives them to nobody; the first is '" + first->label + "', number " + std::to_string(first->order.load()) +
                   " of its flow";
    for (const auto& worker : workers_)
        if (worker->waits_for)
            message += std::string("; ") + worker->name + " waits for the data of '" + worker->waits_for->label + "'";
    for (const auto& worker : workers_)
        for (const Claims::Claim& claim : worker->claims)
            message += std::string("; ") + worker->name + " waits for the data of '" + claim.task->label + "'";
    if (!first) message += (message.back() == ' ' ? "" : "; ") + std::string("no task is ready, and none runs");
    throw Error(ErrorCode::environment, message);
}

} // namespace trencadis::simulated
