// Who acts, who waits, who is given what.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"

#include <algorithm>
#include <limits>

namespace trencadis::simulated {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

bool inside(const Task& task, const TaskFlow& flow)
{
    for (const TaskFlow* f = task.flow; f; f = f->parent())
        if (f == &flow) return true;
    return false;
}

} // namespace

// ---- actors ---------------------------------------------------------------------------------------------------

VirtualTime::Actor VirtualEngine::start(Unit* unit, std::function<void()> body)
{
    const VirtualTime::Actor actor = time_->start(std::move(body));
    if (by_actor_.size() <= static_cast<std::size_t>(actor)) by_actor_.resize(actor + 1, nullptr);
    by_actor_[actor] = unit;
    return actor;
}

Unit* VirtualEngine::here() const { return running_ ? by_actor_[time_->self()] : nullptr; }

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

Holder& VirtualEngine::new_holder(Unit& unit)
{
    holders_.push_back(std::make_unique<Holder>());
    Holder& holder = *holders_.back();
    holder.unit = &unit;
    unit.holder = &holder;
    holder.actor = start(&unit, [this, &holder] { hold(holder); });
    return holder;
}

/// A holder's life: hold the worker, give it back to one that waited, be spare, hold it again.
void VirtualEngine::hold(Holder& holder)
{
    Unit& unit = *holder.unit;
    while (!stop_) {
        if (unit.device >= 0) work_device(unit);
        else work(unit);
        if (stop_) return send_wakes();
        Holder* next = unit.resumable.back();
        unit.resumable.pop_back();
        unit.spare.push_back(&holder);
        unit.holder = next;
        wake(*next);
        pause();
    }
}

/// Runs tasks until the simulation ends or another holder wants the worker back.
void VirtualEngine::work(Unit& unit)
{
    if (Task* first = std::exchange(unit.holder->first, nullptr)) act(unit, {first, nullptr, unit.holder->first_offer});
    while (!stop_ && unit.resumable.empty()) {
        Found found = look(unit);
        if (!found) found = idle(unit, nullptr);
        act(unit, found);
    }
    push_released(unit);
}

// ---- finding something to do ----------------------------------------------------------------------------------

int VirtualEngine::push(Task* chain, WorkerId from)
{
    int count = 0;
    while (chain) {
        Task* task = chain;
        chain = chain->next;
        if (data_depth_ < 0 && task->access_count > 0) data_depth_ = task->depth;
        queued_.insert(task);
        scheduler_->push(*task, from);
        ++count;
    }
    return count;
}

void VirtualEngine::push_released(Unit& unit)
{
    if (Task* chain = std::exchange(unit.released, nullptr)) ready(chain);
}

void VirtualEngine::ready(Task* chain)
{
    const Unit* unit = here();
    if (!running_ && chain->codelet->submits && !chain->next && !root_) root_ = chain;
    else push(chain, unit ? unit->id : no_worker);
    serve();
}

void VirtualEngine::submitting()
{
    if (options_.submit_s <= 0) return;
    if (Unit* unit = here()) pay(*unit, options_.submit_s);
}

void VirtualEngine::submitted(Task& task)
{
    const Unit* unit = here();
    if (!unit || !bounded_ || scheduler_->has_room(unit->id) || !run_here(task)) ready(&task);
}

/// On the stack of the task that submits it. That one cannot hold what this one needs: it waits for it in any case.
bool VirtualEngine::run_here(Task& task)
{
    Unit* unit = here();
    if (!unit || !kernels_.able(*task.codelet, unit->type)) return false;
    execute(*unit, task, false);
    push_released(*unit);
    return true;
}

void VirtualEngine::undiscovered(TaskFlow& flow)
{
    if (std::find(undiscovered_.begin(), undiscovered_.end(), &flow) == undiscovered_.end()) undiscovered_.push_back(&flow);
    serve();
}

void VirtualEngine::forget(TaskFlow& flow) { std::erase(undiscovered_, &flow); }

bool VirtualEngine::discover(Unit& unit)
{
    constexpr int batch = 16;
    while (!undiscovered_.empty()) {
        int found = 0;
        Task** end = &unit.released;
        while (*end) end = &(*end)->next;
        *end = undiscovered_.back()->discover(batch, found);
        if (found) return true;
        undiscovered_.pop_back();
    }
    return false;
}

/// The runtime itself takes time; under one lock, those who want it one after the other.
void VirtualEngine::pay(Unit& unit, Seconds cost)
{
    if (cost <= 0) return;
    Seconds end = now() + cost;
    if (options_.central_lock) end = lock_free_at_ = std::max(now(), lock_free_at_) + cost;
    send_wakes();
    time_->compute(unit.host, (end - now()) * host_speed_[unit.host]);
}

Found VirtualEngine::look(Unit& unit)
{
    const Found found = choose(unit);
    serve();
    return found;
}

/// Asks the policy, after giving it what the worker released.
Found VirtualEngine::choose(Unit& unit)
{
    do {
        push(std::exchange(unit.released, nullptr), unit.id);
        if (unit.called) {
            Operation& operation = *unit.called;
            if (join(unit, operation)) return {nullptr, &operation};
        }
        if (queued_.empty() && offers_ == 0) continue;
        const Decision decision = scheduler_->pop(unit.id);
        if (decision.run) {
            queued_.erase(decision.run);
            vain_ = 0;
            return {decision.run, nullptr, decision.offer};
        }
        Operation* operation = decision.join == no_worker ? nullptr : units_[decision.join]->offer;
        if (operation && join(unit, *operation)) return {nullptr, operation};
        if (decision.again_in > 0) ask_again(decision.again_in);
    } while (!undiscovered_.empty() && discover(unit));
    return {};
}

/// Asks the policy for those who are idle, the one that has been for longest first, then for devices with a free place beside
/// what they run. Wakes those who got something.
void VirtualEngine::serve()
{
    const auto anything = [this] { return !queued_.empty() || offers_ > 0 || !undiscovered_.empty(); };
    for (bool given = true; given && anything();) {
        given = false;
        for (std::size_t i = 0; i < seekers_.size() && anything();) {
            Unit& unit = *units_[seekers_[i]];
            const Found found = choose(unit);
            if (found) {
                unit.found = found;
                no_longer_idle(unit);
                wake(*unit.holder);
                given = true;
            } else ++i;
        }
        for (const WorkerId device : devices_) {
            Unit& unit = *units_[device];
            if (unit.idle || unit.found || !has_slot(unit) || !anything()) continue;
            if (const Found found = choose(unit)) {
                claim(unit, *found.task);
                given = true;
            }
        }
    }
}

void VirtualEngine::no_longer_idle(Unit& unit)
{
    unit.idle = false;
    std::erase(seekers_, unit.id);
}

/// Nothing to do, until somebody gives the worker something or wants it to look around.
Found VirtualEngine::idle(Unit& unit, Wait* wait)
{
    if (stop_ || (wait && !wait->flow.begin_suspension(wait->target, wait))) return {};
    const Seconds begin = now();
    unit.idle = true;
    seekers_.push_back(unit.id);
    pause();
    if (unit.idle) no_longer_idle(unit);
    if (wait) wait->flow.end_suspension(wait->target);
    record(unit, "idle", 0, begin, 0, EventKind::idle);
    return std::exchange(unit.found, {});
}

// ---- asking again, mapping again ------------------------------------------------------------------------------

void VirtualEngine::ask_again(Seconds in)
{
    const Seconds at = now() + in;
    if (at >= again_at_) return;
    again_at_ = at;
    if (alarm_ < 0) alarm_ = start(nullptr, [this] { keep_alarm(); });
    else wakes_.push_back(alarm_);
}

void VirtualEngine::keep_alarm()
{
    while (!stop_) {
        send_wakes();
        if (again_at_ == never || in_vain()) time_->suspend();
        else if (again_at_ > now()) time_->suspend_for(again_at_ - now());
        else {
            ++vain_;
            again_at_ = never;
            serve();
        }
    }
}

void VirtualEngine::keep_mapping()
{
    while (!stop_) {
        if (in_vain()) time_->suspend();
        else time_->suspend_for(options_.remap_s);
        ++vain_;
        if (!stop_) remap();
        send_wakes();
    }
}

/// Nobody does anything and asking did not help: then a clock that goes on would hide that the simulation stands still.
bool VirtualEngine::in_vain()
{
    const bool busy = std::any_of(units_.begin(), units_.end(), [](const auto& unit) { return unit->runs || !unit->idle; });
    if (busy) vain_ = 0;
    return vain_ > 1000;
}

// ---- waiting --------------------------------------------------------------------------------------------------

void VirtualEngine::drain(TaskFlow& flow, std::int64_t target)
{
    if (stuck_ || flow.pending() <= target) return;
    Wait wait{flow, target};
    wait.unit = here();
    if (wait.unit) drain_on(*wait.unit, wait);
    else run_all(wait);
}

void VirtualEngine::drain_on(Unit& unit, Wait& wait)
{
    while (!wait.over()) {
        if (!unit.resumable.empty() && hand_over(unit, {}, wait)) continue;
        Found found = look(unit);
        if (!found) found = idle(unit, &wait);
        if (found.task && !inside(*found.task, wait.flow) && hand_over(unit, found, wait)) continue;
        act(unit, found);
    }
    push_released(unit);
}

/// Another holder takes the worker (and the task); the caller waits until its flow is at the target and it has the worker back.
/// Running foreign tasks on the waiter's stack could deadlock: they may need what the waiter holds.
bool VirtualEngine::hand_over(Unit& unit, const Found& found, Wait& wait)
{
    push_released(unit);
    wait.holder = unit.holder;
    if (wait.flow.begin_suspension(wait.target, &wait)) {
        auto& from = !found.task && !unit.resumable.empty() ? unit.resumable : unit.spare;
        if (from.empty()) new_holder(unit);
        else {
            unit.holder = from.back();
            from.pop_back();
            wake(*unit.holder);
        }
        unit.holder->first = found.task;
        unit.holder->first_offer = found.offer;
        pause();
        wait.flow.end_suspension(wait.target);
    } else if (found.task) { // the flow came down meanwhile
        found.task->next = nullptr;
        ready(found.task);
    }
    wait.holder = nullptr;
    return true;
}

void VirtualEngine::wake_owner(TaskFlow& flow)
{
    Wait& wait = *static_cast<Wait*>(flow.waiter());
    if (!wait.unit) return stop_all();
    if (wait.holder) wait.unit->resumable.push_back(wait.holder);
    if (!wait.unit->idle) return;
    no_longer_idle(*wait.unit);
    wake(*wait.unit->holder);
}

/// Called by the thread that the simulation is started from: the actors act until its flow is at the target.
void VirtualEngine::run_all(Wait& wait)
{
    if (!wait.flow.begin_suspension(wait.target, &wait)) return;
    stop_ = false;
    // The first worker begins last, when the others are already looking for work.
    for (std::size_t u = 1; u < units_.size(); ++u) new_holder(*units_[u]);
    new_holder(*units_.front());
    units_.front()->holder->first = std::exchange(root_, nullptr);
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
    for (const auto& unit : units_) unit->spare.clear();
}

void VirtualEngine::stop_all()
{
    stop_ = true;
    makespan_ = now();
    joules_.clear();
    if (has_energy_)
        for (std::size_t host = 0; host < host_speed_.size(); ++host) joules_.push_back(time_->energy(static_cast<int>(host)));
    for (const auto& holder : holders_) wake(*holder);
    for (const VirtualTime::Actor actor : {alarm_, mapper_})
        if (actor >= 0) wakes_.push_back(actor);
    for (const auto& stream : streams_)
        if (stream) wakes_.push_back(stream->actor);
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
    for (const auto& unit : units_)
        if (unit->waits_for)
            message += std::string("; ") + unit->name + " waits for the data of '" + unit->waits_for->label + "'";
    for (const auto& unit : units_)
        for (const Claim& claim : unit->claims)
            message += std::string("; ") + unit->name + " waits for the data of '" + claim.task->label + "'";
    if (!first) message += (message.back() == ' ' ? "" : "; ") + std::string("no task is ready, and none runs");
    throw Error(ErrorCode::environment, message);
}

} // namespace trencadis::simulated
