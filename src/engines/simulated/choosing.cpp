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
    push_each(chain, from, [this](const Task& task) {
        if (data_depth_ < 0 && task.access_count > 0) data_depth_ = task.depth;
        queued_.insert(&task);
    });
    return 0; // `serve` tells who should know
}

void VirtualEngine::taken(const Task& task)
{
    queued_.erase(&task);
    vain_ = 0;
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
    const Found found = ask(unit);
    serve();
    return found;
}

/// One that its team's leader has called comes before it asks the policy.
Found VirtualEngine::ask(Unit& unit)
{
    if (unit.called) {
        push(std::exchange(unit.released, nullptr), unit.id);
        Operation& operation = *unit.called;
        if (join(unit, operation)) return {nullptr, &operation};
    }
    return seek(unit);
}

Found VirtualEngine::joined(Unit& unit, const Decision& decision)
{
    Operation* operation = decision.join == no_worker ? nullptr : units_[decision.join]->offer;
    if (operation && binding_.allows(unit.id, operation->task.node) && join(unit, *operation)) return {nullptr, operation};
    if (decision.again_in > 0) ask_again(decision.again_in);
    return {};
}

/// Asks the policy for those who are idle, the one that has been for longest first, then for devices with a free place beside
/// what they run. Wakes those who got something.
void VirtualEngine::serve()
{
    const auto anything = [this] { return any_work() || undiscovered_.any(); };
    for (bool given = true; given && anything();) {
        given = false;
        for (std::size_t i = 0; i < seekers_.size() && anything();) {
            Unit& unit = *units_[seekers_[i]];
            const Found found = ask(unit);
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
            if (const Found found = ask(unit)) {
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
