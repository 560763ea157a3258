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
        workers_.back()->seen.resize(parts_.workers.size());
        recorder_.describe(static_cast<WorkerId>(i), parts_.workers[i].cpu, parts_.workers[i].kind_name);
    }
    scheduler_ = make_scheduler();
    bounded_ = scheduler_->bounded();
    wakes_all_ = scheduler_->wakes_all();
    wants_finished_ = scheduler_->wants_finished() && !concurrent_;
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
    stop_.store(true, std::memory_order_seq_cst);
    changed_.notify_all();
    seats_.clear(); // waits for their units
}

/// A unit for the worker, asleep until the worker is handed over to it.
Holder& NativeEngine::new_holder(Worker& worker)
{
    worker.holders.reserve(worker.holders.size() + 1);
    auto owned = std::make_unique<Holder>(Holder{&worker});
    Holder& holder = *owned;
    holder.unit = &worker.seat->make_unit([this, &holder] { return hold(holder); });
    worker.holders.push_back(std::move(owned));
    return holder;
}

/// A unit's life: hold the worker, give it back to one that waited, be spare, hold it again. At the end the spare ones leave one
/// after another. Answers whose turn is next.
Unit* NativeEngine::hold(Holder& holder)
{
    Worker& worker = *holder.worker;
    position = {this, &worker, &holder, nullptr};
    set_here(this);
    introduce(worker);
    while (true) {
        work(worker, std::exchange(holder.first, nullptr));
        Holder* next = nullptr;
        {
            std::lock_guard lock(worker.lock);
            const bool stop = stop_.load(std::memory_order_acquire);
            auto& from = stop ? worker.spare : worker.resumable;
            if (stop) stay(worker);
            if (stop && from.empty()) return nullptr;
            next = from.back();
            from.pop_back();
            if (stop) return next->unit;
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
            worker.spare.push_back(&holder);
        }
        pass_worker(holder, *next);
    }
}

/// Returns when the worker has come back to the caller. Units of a worker may share the thread, and with it the position.
void NativeEngine::pass_worker(Holder& self, Holder& next)
{
    const Position mine = position;
    self.worker->seat->pass(*self.unit, *next.unit);
    position = mine;
    introduce(*self.worker);
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
                         worker->joined.load(std::memory_order_relaxed), worker->reliefs.load(std::memory_order_relaxed)});
    return times;
}

} // namespace trencadis
