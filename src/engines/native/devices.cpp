// Devices as workers: they take tasks ahead, whose data come while one computes, and sleep while they wait.
#include "base/error.hpp"
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
    devices_ = std::make_unique<DeviceMemory>(parts_.device_units, DeviceMemory::Habits{parts_.device_slots, parts_.memory_log},
                                              [this](int device) { sleepers_.notify_one(cores() + device); });
}

void NativeEngine::describe_copies()
{
    for (int device = 0; device < device_count(); ++device)
        for (const bool in : {true, false}) {
            const std::string name = (in ? "to " : "from ") + parts_.device_units[std::size_t(device)].device->name();
            recorder_.describe(row_of_copies(device, in), -1, name, true);
        }
}

void NativeEngine::record_copy(int device, const DeviceDriver::Ended& copy)
{
    const Transfer& transfer = copy.transfer;
    const bool in = transfer.to != 0, back = transfer.reason == TransferReason::write_back;
    const bool awaited = transfer.asked_by >= 0 && !back;
    Event event{in     ? transfer.from == 0 ? "copy in" : "copy across"
                : back ? "write back"
                       : "copy out",
                awaited ? std::uint64_t(transfer.asked_by) : 0,
                copy.begin_ns,
                copy.end_ns,
                transfer.bytes,
                EventKind::copy};
    event.awaited = awaited;
    recorder_.record(row_of_copies(device, in), event);
}

/// Does what can be done now. True: a task is over.
bool NativeEngine::carry_on(Worker& worker)
{
    DeviceMemory::Progress progress = devices_->step(device_of(worker.id), worker.id);
    if (recorder_.enabled())
        for (const DeviceDriver::Ended& copy : progress.copies) record_copy(device_of(worker.id), copy);
    for (DeviceMemory::Done& done : progress.done) {
        Task& task = *done.task;
        if (done.back) {
            --worker.in_flight;
            pass_on(worker, task);
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
        complete(worker, task, std::move(done.failure), ns * 1e-9); // its owner may be the last to look at it
    }
    if (progress.takes_less) wake(workers()); // who can run only now what was the device's has looked before
    return !progress.done.empty();
}

/// Only devices could run it, and none can. Such a task is the cores', which have it fail. It is for good: where it comes about
/// while a task is ready, everybody is woken after that (carry_on).
bool NativeEngine::is_orphan(const Task& task) const
{
    if (task.codelet->core || !task.codelet->device) return false;
    for (WorkerId worker = cores(); worker < workers(); ++worker)
        if (able(task, worker)) return false;
    return true;
}

std::exception_ptr NativeEngine::no_device_for(const Task& task) const
{
    std::string why;
    for (const DeviceTraffic& device : traffic())
        why += (why.empty() ? "" : "; ") + device.device +
               (device.fault.empty() ? " does not take it" : " is gone, " + device.fault);
    return std::make_exception_ptr(
        Error(ErrorCode::environment, std::string("task '") + task.label +
                                          "' is for devices, and none can run it: " + (why.empty() ? "there is none" : why)));
}

/// Others are to run it.
void NativeEngine::pass_on(Worker& worker, Task& task)
{
    if (wants_finished_) with_policy([&] { scheduler_->finished(task, worker.id, 0); });
    task.next = nullptr;
    ready(&task);
}

/// A core has a task for devices alone.
void NativeEngine::refuse(Worker& worker, Task& task)
{
    if (is_orphan(task)) conclude(worker, task, no_device_for(task), 0);
    else pass_on(worker, task);
}

/// The unit is given the task; but for one that was kept for it before it was lost, and that no core can run.
void NativeEngine::start(Worker& worker, Task& task)
{
    if (!task.codelet->core && !able(task, worker.id)) {
        --worker.in_flight;
        return pass_on(worker, task);
    }
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
        if (devices_->fetch(task)) return true;
        conclude(worker, task, nullptr, 0);
        return false;
    } catch (...) {
        conclude(worker, task, std::current_exception(), 0);
        return false;
    }
}

} // namespace trencadis
