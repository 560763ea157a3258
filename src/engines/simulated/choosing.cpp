// Who is given what: the policy is asked, at the right moments, for the right workers.
#include "engines/simulated/engine.hpp"

#include <algorithm>
#include <limits>

namespace trencadis::simulated {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

} // namespace

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
    if (!unit || !binding_->allows(unit->id, task.node) || !kernels_.able(*task.codelet, unit->type)) return false;
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
        if (operation && binding_->allows(unit.id, operation->task.node) && join(unit, *operation)) return {nullptr, operation};
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

} // namespace trencadis::simulated
