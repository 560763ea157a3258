// Who is given what: the policy is asked, at the right moments, for the right workers.
#include "engines/simulated/engine.hpp"

#include <algorithm>
#include <limits>

namespace trencadis::simulated {
namespace {

constexpr Seconds tolerance = 1e-9; ///< the simulator rounds times at this
constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

} // namespace

int VirtualEngine::push(Task* chain, WorkerId from)
{
    if (books_) chain = send_messages(chain);
    push_each(chain, from, [this](const Task& task) {
        if (data_depth_ < 0 && task.access_count > 0) data_depth_ = task.depth;
        queued_.insert(&task);
        ++crew_of(task).queued;
        change(crew_of(task));
    });
    return 0; // `serve` tells who should know
}

void VirtualEngine::taken(const Task& task)
{
    queued_.erase(&task);
    --crew_of(task).queued;
    vain_ = 0;
}

void VirtualEngine::ready(Task* chain)
{
    const Worker* worker = here();
    if (!running_ && chain->codelet->submits && !chain->next && !root_) root_ = chain;
    else push(chain, worker ? worker->id : no_worker);
    if (!options_.caller_first || !worker || worker->inside_body == 0) serve();
}

void VirtualEngine::submitting(TaskFlow&)
{
    if (options_.submit_s <= 0) return;
    if (Worker* worker = here()) pay(*worker, options_.submit_s);
}

/// The runtime itself takes time; under one lock, those who want it one after the other.
void VirtualEngine::pay(Worker& worker, Seconds cost)
{
    if (cost <= 0) return;
    Seconds end = now() + cost;
    if (options_.central_lock) end = lock_free_at_ = std::max(now(), lock_free_at_) + cost;
    send_wakes();
    time_->compute(worker.host, (end - now()) * host_speed_[worker.host]);
}

Found VirtualEngine::look(Worker& worker)
{
    const Found found = ask(worker);
    change(*worker.crew);
    worker.served = worker.device >= 0 && !found;
    if (worker.device < 0 || !found) serve(); // a device takes what it found first
    return found;
}

/// One that its team's leader has called comes before it asks the policy.
Found VirtualEngine::ask(Worker& worker)
{
    if (worker.called) {
        push(std::exchange(worker.released, nullptr), worker.id);
        Operation& operation = *worker.called;
        if (join(worker, operation)) return {nullptr, &operation};
    }
    return seek(worker);
}

Found VirtualEngine::joined(Worker& worker, const Decision& decision)
{
    Operation* operation = decision.join == no_worker ? nullptr : workers_[decision.join]->offer;
    if (operation && binding_.allows(worker.id, operation->task.node) && join(worker, *operation)) return {nullptr, operation};
    if (decision.again_in > 0) ask_again(decision.again_in);
    return {};
}

/// The policy may answer otherwise than it did when it was asked for these workers.
void VirtualEngine::change(Crew& crew)
{
    if (crews_.size() > 1 && !std::exchange(crew.changed, true)) changed_.push_back(&crew);
}
void VirtualEngine::change_all()
{
    for (Crew& crew : crews_) change(crew);
}

/// Asks the policy for those who are idle where anything changed. Wakes those who got something.
void VirtualEngine::serve()
{
    const auto serve_fully = [this](Crew& crew) {
        while (serve(crew)) {}
    };
    if (crews_.size() == 1) return serve_fully(crews_.front());
    while (!changed_.empty()) {
        Crew& crew = *changed_.back();
        changed_.pop_back();
        crew.changed = false;
        serve_fully(crew);
    }
}

/// The one that has been idle for longest first, then devices with a free place beside what they run. True: somebody got
/// something.
bool VirtualEngine::serve(Crew& crew)
{
    const auto anything = [&] { return crew.queued > 0 || crew.offers > 0 || undiscovered_.any(); };
    bool given = false;
    for (std::size_t i = 0; i < crew.seekers.size() && anything();) {
        Worker& worker = *workers_[crew.seekers[i]];
        const Found found = ask(worker);
        if (found) {
            worker.found = found;
            no_longer_idle(worker);
            wake(*worker.holder);
            given = true;
        } else ++i;
    }
    for (const WorkerId device : devices_) {
        Worker& worker = *workers_[device];
        if (worker.idle || worker.found || !has_slot(worker) || !anything()) continue;
        if (const Found found = ask(worker)) {
            ++worker.in_flight;
            claim(worker, *found.task);
            given = true;
        }
    }
    return given;
}

void VirtualEngine::no_longer_idle(Worker& worker)
{
    worker.idle = false;
    std::erase(worker.crew->seekers, worker.id);
}

/// Nothing to do, until somebody gives the worker something or wants it to look around.
Found VirtualEngine::idle(Worker& worker, Wait* wait)
{
    if (stop_ || (wait && !wait->flow.begin_suspension(wait->target, wait))) return {};
    const Seconds begin = now();
    worker.idle = true;
    worker.idle_since = begin;
    worker.crew->seekers.push_back(worker.id);
    pause();
    if (worker.idle) no_longer_idle(worker);
    if (wait) wait->flow.end_suspension(wait->target);
    account_idle(worker, begin);
    record(worker, "idle", 0, begin, 0, EventKind::idle);
    return std::exchange(worker.found, {});
}

/// Who has looked for work for long enough has fallen asleep, and needs its time to begin.
void VirtualEngine::account_idle(Worker& worker, Seconds begin)
{
    const Seconds waited = now() - begin, looked = std::min(waited, options_.spin_s);
    worker.polling += looked;
    worker.asleep += waited - looked;
    if (!sleeps(begin) || stop_) return;
    const Seconds ready = now() + options_.wake_s;
    for (Seconds rest = options_.wake_s; rest > tolerance; rest = ready - now()) { // who joins beside it interrupts it
        send_wakes();
        time_->compute(worker.host, rest * host_speed_[worker.host]);
    }
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
            change_all();
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
    const bool busy =
        std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->runs || !worker->idle; });
    if (busy) vain_ = 0;
    return vain_ > 1000;
}

} // namespace trencadis::simulated
