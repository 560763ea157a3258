#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"

#include <algorithm>

namespace trencadis {

thread_local constinit Position position;

namespace {

std::vector<int> kinds_of(const std::vector<WorkerPlace>& workers)
{
    std::vector<int> kinds;
    for (const WorkerPlace& worker : workers) kinds.push_back(worker.kind);
    return kinds;
}

std::vector<std::string> names_of(const std::vector<WorkerPlace>& workers)
{
    std::vector<std::string> names;
    for (const WorkerPlace& worker : workers) names.push_back(worker.kind_name);
    return names;
}

std::vector<int> nodes_of(const std::vector<WorkerPlace>& workers)
{
    std::vector<int> nodes;
    for (const WorkerPlace& worker : workers) nodes.push_back(worker.node);
    return nodes;
}

/// The last one of each core; those that may run anywhere are of none.
std::vector<WorkerId> workers_by_core(const std::vector<WorkerPlace>& workers)
{
    std::vector<WorkerId> by_core;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const int cpu = workers[i].core();
        if (cpu < 0) continue;
        if (cpu >= static_cast<int>(by_core.size())) by_core.resize(std::size_t(cpu) + 1, no_worker);
        by_core[std::size_t(cpu)] = static_cast<WorkerId>(i);
    }
    return by_core;
}

/// Where cores are emulated or moved, everything is a task.
bool shares_calls(const EngineParts& parts)
{
    const bool true_cores =
        std::all_of(parts.workers.begin(), parts.workers.end(), [](const WorkerPlace& w) { return w.slow == 1; });
    return parts.workers.size() > 1 && true_cores && parts.device_units.empty() && parts.relieving != Relieving::always;
}

std::vector<ComputeUnit> units_of(const EngineParts& parts)
{
    const int devices = static_cast<int>(parts.device_units.size());
    std::vector<ComputeUnit> units(parts.workers.size() - std::size_t(devices), {.kernels = parts.kernels});
    for (int d = 0; d < devices; ++d) units.push_back({UnitKind::device, d + 1, parts.device_units[std::size_t(d)].kernels});
    return units;
}

} // namespace

NativeEngine::NativeEngine(EngineParts parts)
    : WorkerProtocol(nodes_of(parts.workers)), parts_(std::move(parts)),
      cores_(static_cast<int>(parts_.workers.size() - parts_.device_units.size())), units_(units_of(parts_)),
      memory_(parts_.machine, parts_.node_of), speeds_(kinds_of(parts_.workers), parts_.nominal_flops_per_second, parts_.speeds,
                                                       names_of(parts_.workers), parts_.device_units.size()),
      relief_(parts_.relieving, parts_.threads->keeps_units()),
      recorder_(static_cast<int>(parts_.workers.size() + 2 * parts_.device_units.size())), shares_calls_(shares_calls(parts_)),
      sleepers_(2 * static_cast<int>(parts_.workers.size())), worker_on_(workers_by_core(parts_.workers))
{
    for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
        workers_.push_back(std::make_unique<Worker>());
        workers_.back()->id = static_cast<WorkerId>(i);
        workers_.back()->place = parts_.workers[i];
        recorder_.describe(static_cast<WorkerId>(i), parts_.workers[i].cpu, parts_.workers[i].kind_name);
    }
    describe_copies();
    make_devices();
    make_scheduler(*this, parts_.scheduler);
    policy_wakes_all_ = wakes_all_;
    wakes_all_ |= devices_ != nullptr; // what a worker releases may be for others, though it is but one
    locates_ = !devices_ && scheduler_->asks_for_data() && memory_.memories() > 1;
    idle_on_node_ = std::vector<std::atomic<int>>(binding_.nodes());
    for (auto& worker : workers_)
        relief_.add(worker->relief, worker->place, binding_.splits() ? worker->place.node : any_node, worker->runs_since_ns);
    std::vector<int> cpus;
    for (const WorkerPlace& place : parts_.workers) cpus.push_back(place.core());
    seats_ = parts_.threads->make_seats(cpus);
    for (auto& worker : workers_) {
        worker->seat = seats_[worker->id].get();
        new_holder(*worker);
    }
    for (auto& worker : workers_) worker->seat->give(*worker->holders.front()->unit);
}

NativeEngine::~NativeEngine()
{
    end_kept_flows();
    stop_.store(true, std::memory_order_seq_cst);
    sleepers_.notify_all();
    seats_.clear(); // waits for their units
}

/// A unit for the worker, asleep until the worker is handed over to it.
Holder& NativeEngine::new_holder(Worker& worker)
{
    worker.holders.reserve(worker.holders.size() + 1);
    auto owned = std::make_unique<Holder>(Holder{{&worker}});
    Holder& holder = *owned;
    holder.unit = &worker.seat->make_unit([this, &holder] { return hold(holder); });
    worker.holders.push_back(std::move(owned));
    return holder;
}

/// A unit's life: hold the worker, give it back to one that waited, be spare, hold it again. At the end the spare ones leave one
/// after another. Answers whose turn is next.
WorkUnit* NativeEngine::hold(Holder& holder)
{
    Worker& worker = *holder.worker;
    position = {this, &worker, &holder, nullptr};
    set_here(this);
    set_standard_float_modes();
    introduce(worker);
    while (true) {
        if (is_device(worker.id)) work_ahead(worker, devices_->slots());
        else work(worker, holder);
        if (stop_.load(std::memory_order_acquire)) {
            relief_.stay(worker.relief);
            const Holder* next = worker.succession.take(false);
            return next ? next->unit : nullptr;
        }
        pass_worker(holder, worker.succession.give_back(holder));
    }
}

/// Says which thread has the worker now. A guest's is the program's own, and moved by nobody.
void NativeEngine::introduce(Worker& worker) const
{
    relief_.has(worker.relief, position.holder->guest ? ThreadHandle{} : ThreadHandle::mine());
}

Holder& NativeEngine::holder(const Worker&) const { return *position.holder; }

void NativeEngine::pass(Worker& worker, Holder& self, Holder& next)
{
    const Segment mine = worker.stopwatch.take_out();
    pass_worker(self, next);
    worker.stopwatch.put_back(mine);
}

/// Returns when the worker has come back to the caller. Units of a worker may share the thread, and with it the position. Between
/// a guest and the unit whose place it has, the seat stays the unit's.
void NativeEngine::pass_worker(Holder& self, Holder& next)
{
    const Position mine = position;
    if (self.guest) {
        count_idle(*self.worker, 1);
        sleepers_.call_back(bed_of(next));
        self.guest->parker.park();
        count_idle(*self.worker, -1);
    } else if (next.guest) {
        count_idle(*self.worker, 1);
        next.guest->displaced = self.worker->resting = &self;
        sleepers_.give_place(bed_of(self));
        next.guest->parker.unpark();
        sleepers_.await_place(bed_of(self));
        count_idle(*self.worker, -1);
    } else {
        // The next one may have a thread of its own, which is at home.
        if (relief_.is_away(self.worker->relief)) relief_.go_home(self.worker->relief);
        self.worker->seat->pass(*self.unit, *next.unit);
    }
    position = mine;
    introduce(*self.worker);
}

std::vector<WorkerTime> NativeEngine::times() const
{
    std::vector<WorkerTime> times;
    for (const auto& worker : workers_)
        times.push_back({worker->busy_ns.load(std::memory_order_relaxed), worker->tasks.load(std::memory_order_relaxed),
                         worker->joined.load(std::memory_order_relaxed), worker->relief.given()});
    return times;
}

} // namespace trencadis
