#include "choices/foreseen_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr int in_flight = 2;

} // namespace

ForeseenSchedule::ForeseenSchedule(double cores, std::vector<DeviceLink> links, Homes homes)
    : cores_(cores), links_(std::move(links)), homes_(std::move(homes))
{
}

void ForeseenSchedule::add(const Work& work, std::span<const Access> accesses)
{
    too_many_ |= tasks_.size() == most_tasks;
    if (too_many_) return;
    const auto self = std::uint32_t(tasks_.size());
    tasks_.push_back({work.on_core, work.all_cores, std::uint32_t(uses_.size()), std::uint32_t(accesses.size())});
    on_devices_.insert(on_devices_.end(), work.on_devices.begin(), work.on_devices.end());
    for (const Access& access : accesses) {
        const auto [at, is_new] = last_.try_emplace(access.datum.address, Last{std::uint32_t(last_.size()), -1, {}});
        if (is_new) home_of_.push_back(homes_ ? homes_(access.datum.address) : -1);
        Last& last = at->second;
        const bool writes = is_writing(access.mode);
        uses_.push_back({last.datum, access.mode != AccessMode::write, writes, access.datum.bytes()});
        if (last.writer >= 0) edges_.push_back({std::uint32_t(last.writer), self});
        if (!writes) {
            last.readers.push_back(self);
            continue;
        }
        for (const std::uint32_t reader : last.readers)
            if (reader != self) edges_.push_back({reader, self});
        last.readers.clear();
        last.writer = self;
    }
}

/// A task's path is longer than that of all behind it, so none comes before one that it needs; of equal ones, as submitted.
std::vector<std::uint32_t> ForeseenSchedule::by_longest_path(DeviceSet set) const
{
    std::vector<Seconds> path(tasks_.size());
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
        path[t] = tasks_[t].on_core;
        for (std::size_t d = 0; d < links_.size(); ++d)
            if (const Seconds here = on_devices_[t * links_.size() + d]; set >> d & 1 && here >= 0)
                path[t] = std::min(path[t], here);
    }
    std::vector<Seconds> behind(tasks_.size());
    for (auto edge = edges_.rbegin(); edge != edges_.rend(); ++edge)
        behind[edge->before] = std::max(behind[edge->before], path[edge->after] + behind[edge->after]);
    for (std::size_t t = 0; t < tasks_.size(); ++t) path[t] += behind[t];
    std::vector<std::uint32_t> order(tasks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return path[a] > path[b]; });
    return order;
}

/// The state while tasks are placed.
struct ForeseenSchedule::Run {
    const ForeseenSchedule& call;
    std::vector<Seconds> core_free;
    struct Device {
        Seconds free = 0, to_free = 0, from_free = 0;
        Seconds ends[in_flight] = {}; ///< of the last tasks: a new one's operands begin to move when the older one is over
    };
    std::vector<Device> devices;
    /// When a datum is there, by datum: in the host's memory, then by device.
    std::vector<Seconds> there;
    std::vector<Seconds> readers_end;
    double speed; ///< of one of core_free

    explicit Run(const ForeseenSchedule& of)
        : call(of), core_free(std::size_t(std::max(1.0, std::ceil(of.cores_)))), devices(of.links_.size()),
          there(of.last_.size() * (1 + of.links_.size()), never), readers_end(of.last_.size()),
          speed(of.cores_ / double(core_free.size()))
    {
        for (std::size_t datum = 0; datum < readers_end.size(); ++datum) at(datum, of.home_of_[datum]) = 0;
    }

    Seconds& at(std::size_t datum, int device) { return there[datum * (1 + devices.size()) + std::size_t(device + 1)]; }
    std::span<const Use> uses(const Task& task) const { return {call.uses_.data() + task.first_use, task.uses}; }

    /// When the datum is in the host's memory, where it comes by its device's link if need be.
    Seconds in_host(const Use& use, std::vector<Device>& links, bool stays)
    {
        if (at(use.datum, -1) < never) return at(use.datum, -1);
        Seconds arrives = 0;
        for (std::size_t d = 0; d < links.size(); ++d) {
            const Seconds ready = at(use.datum, int(d));
            if (!(ready < never)) continue;
            Seconds& free = links[d].from_free;
            arrives = free = std::max(free, ready) + call.links_[d].takes(use.bytes, true);
            break;
        }
        if (stays) at(use.datum, -1) = arrives;
        return arrives;
    }
    Seconds on_device(const Use& use, int device, Seconds from, std::vector<Device>& links, bool stays)
    {
        if (at(use.datum, device) < never) return at(use.datum, device);
        Seconds& free = links[std::size_t(device)].to_free;
        const Seconds ready = in_host(use, links, stays);
        free = std::max({free, from, ready}) + call.links_[std::size_t(device)].takes(use.bytes, false);
        if (stays) at(use.datum, device) = free;
        return free;
    }
    /// For a task that can begin at `ready`: of the cores that are free by then the last one, so that none waits for long.
    Seconds& core_for(Seconds ready)
    {
        Seconds* best = &core_free.front();
        for (Seconds& free : core_free)
            if (free <= ready ? *best > ready || free > *best : free < *best) best = &free;
        return *best;
    }

    /// When the task would end there, -1 being the cores; `links` as they would be then. `stays`: so it is, and copies stay.
    Seconds end_on(std::size_t t, int device, std::vector<Device>& links, bool stays = false)
    {
        const Task& task = call.tasks_[t];
        Seconds ready = 0;
        for (const Use& use : uses(task)) {
            if (use.writes) ready = std::max(ready, readers_end[use.datum]);
            if (!use.reads) continue;
            const Seconds there = device < 0 ? in_host(use, links, stays)
                                             : on_device(use, device, links[std::size_t(device)].ends[0], links, stays);
            ready = std::max(ready, there);
        }
        if (device >= 0)
            return std::max(links[std::size_t(device)].free, ready) + call.on_devices_[t * devices.size() + std::size_t(device)];
        if (task.all_cores) return std::max(*std::ranges::max_element(core_free), ready) + task.on_core;
        Seconds& free = core_for(ready);
        const Seconds end = std::max(free, ready) + task.on_core / speed;
        if (stays) free = end;
        return end;
    }

    void place(std::size_t t, int device)
    {
        const Task& task = call.tasks_[t];
        const Seconds end = end_on(t, device, devices, true);
        if (device >= 0) {
            Device& own = devices[std::size_t(device)];
            own.free = end;
            std::shift_left(std::begin(own.ends), std::end(own.ends), 1);
            own.ends[in_flight - 1] = end;
        } else if (task.all_cores) std::ranges::fill(core_free, end);
        for (const Use& use : uses(task)) {
            Seconds& read_until = readers_end[use.datum];
            read_until = use.writes ? end : std::max(read_until, end);
            if (!use.writes) continue;
            for (int other = -1; other < int(devices.size()); ++other) at(use.datum, other) = never;
            at(use.datum, device) = end;
        }
    }

    /// What lies elsewhere alone comes home at last.
    Seconds end()
    {
        Seconds last = *std::ranges::max_element(core_free);
        std::vector<bool> seen(readers_end.size());
        for (const Use& use : call.uses_) {
            if (seen[use.datum]) continue;
            const int home = call.home_of_[use.datum];
            last = std::max(last, home < 0 ? in_host(use, devices, true) : on_device(use, home, 0, devices, true));
            seen[use.datum] = true;
        }
        for (const Device& device : devices) last = std::max(last, device.free);
        return last;
    }
};

Seconds ForeseenSchedule::end(DeviceSet set) const
{
    if (too_many_) return 0;
    Run run(*this);
    std::vector<Run::Device> links; // as they would be if
    for (const std::uint32_t t : by_longest_path(set)) {
        int best = -1;
        links = run.devices;
        Seconds soonest = run.end_on(t, -1, links);
        for (std::size_t d = 0; d < links_.size(); ++d) {
            if (!(set >> d & 1) || on_devices_[t * links_.size() + d] < 0) continue;
            links = run.devices;
            const Seconds end = run.end_on(t, int(d), links);
            if (end >= soonest) continue;
            soonest = end;
            best = int(d);
        }
        run.place(t, best);
    }
    return run.end();
}

} // namespace trencadis::choices
