// What devices have written for the last time comes home while they compute something else: the same copies that the end of the
// flow would make, and none besides.
#include "engines/devices/device_memory.hpp"

#include <array>
#include <new>

namespace trencadis {

/// Nothing is known of tasks whose dependences are found later. What was written before is looked for here, but for what a task
/// ends with just now, which comes when the flow settles, as all does for which there is no memory here.
void DeviceMemory::expect_no_more(TaskFlow& flow) noexcept
try {
    if (flow.options().devices == 0 || flow.options().traits.discovery == Discovery::at_steal) return;
    const std::lock_guard lock(mutex_);
    complete_.insert(&flow);
    const auto used = used_by_.find(&flow);
    if (used == used_by_.end()) return;
    for (const void* const data : used->second) {
        if (home_of(data) != home_space || replicas_.holds(data, home_space) || !flow.is_at_rest(data)) continue;
        for (int device = 0; device < devices(); ++device)
            if (replicas_.holds(data, space_of(device))) stations_[std::size_t(device)]->going_home.push_back({data, &flow});
    }
    call_all();
} catch (const std::bad_alloc&) {
}

/// A task that has ended, and has not been given back to its flow.
void DeviceMemory::note_last_writes(Station& station, const Task& task) const
try {
    if (!complete_.contains(task.flow)) return;
    for (int i = 0; i < task.access_count; ++i) {
        const AccessNode& node = task.accesses[i];
        const void* const data = task.data[i].address;
        if (node.task && node.group && is_last_write(node) && home_of(data) == home_space)
            station.going_home.push_back({data, task.flow});
    }
} catch (const std::bad_alloc&) {
}

/// One at a time, behind what somebody waits for. What cannot go now goes when the flow settles. True: one has ended at once.
bool DeviceMemory::send_home(int device, Station& station, Lock& lock)
{
    bool ended = false;
    while (!station.going_home.empty() && station.driver->in_flight(devices::Queue::out) == 0) {
        const LastWritten last = station.going_home.front();
        station.going_home.pop_front();
        if (station.dead.load(std::memory_order_relaxed) || last.flow->cancelled() || last.flow->has_failed()) continue;
        if (replicas_.holds(last.data, home_space)) continue;
        const std::array read{TaskDatum{last.data, 0, AccessMode::read, home_space}};
        Plan plan = replicas_.acquire(read, home_space);
        if (plan.verdict != Verdict::now) continue;
        add_transfers(plan.transfers);
        replicas_.release(read, home_space);
        ended |= start_transfers(device, station, lock);
    }
    return ended;
}

void DeviceMemory::end_going_home(const TaskFlow& flow)
{
    if (complete_.erase(&flow) == 0) return;
    for (const auto& station : stations_)
        std::erase_if(station->going_home, [&](const LastWritten& last) { return last.flow == &flow; });
}

} // namespace trencadis
