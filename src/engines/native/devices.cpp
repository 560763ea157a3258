// Devices as workers: they take tasks ahead, whose data come while one computes, and sleep while they wait.
#include "engines/native/engine.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace trencadis {
namespace {

/// Counts a device that sleeps, or is about to.
class AsleepHere {
public:
    explicit AsleepHere(std::atomic<int>& count) : count_(count) { count_.fetch_add(1, std::memory_order_relaxed); }
    ~AsleepHere() { count_.fetch_sub(1, std::memory_order_relaxed); }
    AsleepHere(const AsleepHere&) = delete;
    AsleepHere& operator=(const AsleepHere&) = delete;

private:
    std::atomic<int>& count_;
};

} // namespace

EngineParts with_devices(EngineParts parts)
{
    int kind = 0;
    for (const WorkerPlace& place : parts.workers) kind = std::max(kind, place.kind);
    for (const DeviceUnit& unit : parts.device_units) {
        WorkerPlace place{.kind = ++kind, .kind_name = unit.device->name()};
        parts.workers.push_back(std::move(place));
    }
    return parts;
}

void NativeEngine::make_devices()
{
    if (parts_.device_units.empty()) return;
    devices_ = std::make_unique<DeviceMemory>(parts_.device_units, parts_.device_slots,
                                              [this](int device) { sleepers_.notify_one(cores() + device); });
}

/// Does what can be done now. True: a task is over.
bool NativeEngine::carry_on(Worker& worker)
{
    const std::vector<DeviceMemory::Done> all = devices_->step(device_of(worker.id), worker.id);
    for (const DeviceMemory::Done& done : all) {
        Task& task = *done.task;
        if (done.back) {
            --worker.in_flight;
            task.next = nullptr;
            ready(&task);
            continue;
        }
        const std::int64_t ns = done.end_ns - done.begin_ns;
        if (ns > 0) {
            add(worker.busy_ns, ns);
            add(worker.tasks, 1);
            observe(worker, task, 1, ns);
            const Segment piece{&task, EventKind::task, done.begin_ns, false};
            if (recorder_.enabled()) recorder_.record(worker.id, event_of(piece, done.end_ns));
        }
        complete(worker, task, done.failure, ns * 1e-9);
    }
    return !all.empty();
}

/// The unit is given the task.
void NativeEngine::start(Worker& worker, Task& task)
{
    devices_->claim(device_of(worker.id), task, run_time(task, worker.id));
    carry_on(worker);
}

/// Until a task of the device's is over, or there is something else to look at.
void NativeEngine::await(Worker& worker)
{
    if (carry_on(worker)) return;
    const AsleepHere asleep(devices_asleep_);
    sleepers_.prepare(worker.id);
    const Found found = worker.in_flight < devices_->slots() ? look(worker) : Found{};
    if (found || devices_->has_news(device_of(worker.id))) sleepers_.cancel(worker.id);
    else sleepers_.wait(worker.id, found.again_ns > 0 ? found.again_ns : -1, false);
    if (found) submit_to_unit(worker, *found.task);
}

/// Nothing to run; others may want what the device holds.
Found NativeEngine::idle_device(Worker& worker)
{
    Found found;
    while (!found && !disturbed(worker)) {
        carry_on(worker);
        const AsleepHere asleep(devices_asleep_);
        sleepers_.prepare(worker.id);
        found = look(worker);
        if (found || disturbed(worker) || devices_->has_news(device_of(worker.id))) sleepers_.cancel(worker.id);
        else sleepers_.wait(worker.id, found.again_ns > 0 ? found.again_ns : -1, false);
    }
    return found;
}

/// Brings home what a task on a core needs. False: that failed, and so has the task.
bool NativeEngine::fetch(Worker& worker, Task& task)
{
    if (!DeviceMemory::tracks(task)) return true;
    try {
        devices_->fetch(task);
        return true;
    } catch (...) {
        conclude(worker, task, std::current_exception(), 0);
        return false;
    }
}

} // namespace trencadis
