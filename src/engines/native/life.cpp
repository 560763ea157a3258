#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"

#include <algorithm>
#include <mutex>

namespace trencadis {

thread_local constinit Position position;

namespace {

std::vector<int> kinds_of(const std::vector<WorkerPlace>& workers)
{
    std::vector<int> kinds;
    for (const WorkerPlace& worker : workers) kinds.push_back(worker.kind);
    return kinds;
}

} // namespace

NativeEngine::NativeEngine(EngineParts parts)
    : parts_(std::move(parts)), speeds_(kinds_of(parts_.workers), parts_.nominal_flops_per_second),
      recorder_(static_cast<int>(parts_.workers.size())), concurrent_(parts_.scheduler.entry->concurrent)
{
    for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
        workers_.push_back(std::make_unique<Worker>());
        workers_.back()->id = static_cast<WorkerId>(i);
        workers_.back()->place = parts_.workers[i];
        recorder_.describe(static_cast<WorkerId>(i), parts_.workers[i].cpu, parts_.workers[i].kind_name);
    }
    scheduler_ = make_scheduler();
    bounded_ = scheduler_->bounded();
    wakes_all_ = scheduler_->wakes_all();
    wants_finished_ = scheduler_->wants_finished() && !concurrent_;
    try {
        for (auto& worker : workers_) new_holder(*worker);
    } catch (...) {
        stop_.store(true);
        for (auto& holder : holders_) holder->unit->resume();
        for (auto& holder : holders_) holder->unit.reset();
        throw;
    }
    for (auto& holder : holders_) holder->unit->resume();
}

NativeEngine::~NativeEngine()
{
    stop_.store(true, std::memory_order_seq_cst);
    changed_.notify_all();
    for (auto& worker : workers_) {
        std::lock_guard lock(worker->lock);
        for (Holder* spare : worker->spare) spare->unit->resume();
        worker->spare.clear();
    }
    for (auto& holder : holders_) holder->unit.reset(); // joins
}

/// A unit for the worker, asleep until it is resumed.
Holder& NativeEngine::new_holder(Worker& worker)
{
    Holder* holder = nullptr;
    {
        std::lock_guard lock(holders_lock_);
        holders_.push_back(std::make_unique<Holder>());
        holder = holders_.back().get();
    }
    holder->worker = &worker;
    try {
        const int cpu = worker.place.on_cpu >= -1 ? worker.place.on_cpu : worker.place.cpu;
        holder->unit = parts_.threads->start(cpu, [this, holder](Unit& unit) { hold(*holder, unit); });
    } catch (...) {
        std::lock_guard lock(holders_lock_);
        std::erase_if(holders_, [holder](const auto& owned) { return owned.get() == holder; });
        throw;
    }
    return *holder;
}

/// A unit's life: hold the worker, give it back to one that waited, be spare, hold it again.
void NativeEngine::hold(Holder& holder, Unit& unit)
{
    Worker& worker = *holder.worker;
    position = {this, &worker, &holder, nullptr};
    unit.suspend();
    while (!stop_.load(std::memory_order_acquire)) {
        work(worker, std::exchange(holder.first, nullptr));
        Holder* next = nullptr;
        {
            std::lock_guard lock(worker.lock);
            if (stop_.load(std::memory_order_acquire)) return;
            next = worker.resumable.back();
            worker.resumable.pop_back();
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
            worker.spare.push_back(&holder);
        }
        next->unit->resume();
        unit.suspend();
    }
}

/// Runs tasks until the engine stops or another unit wants the worker back.
void NativeEngine::work(Worker& worker, Task* first)
{
    if (first) execute(worker, *first);
    while (!disturbed(worker, nullptr)) {
        Found found = look(worker);
        if (!found) found = idle(worker, nullptr);
        act(worker, found);
    }
    push_released(worker);
}

std::vector<WorkerTime> NativeEngine::times() const
{
    std::vector<WorkerTime> times;
    for (const auto& worker : workers_)
        times.push_back({worker->busy_ns.load(std::memory_order_relaxed), worker->tasks.load(std::memory_order_relaxed),
                         worker->joined.load(std::memory_order_relaxed)});
    return times;
}

} // namespace trencadis
