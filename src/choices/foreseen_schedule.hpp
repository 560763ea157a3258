#pragma once
#include "base/types.hpp"
#include "graph/access.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace trencadis::choices {

/// Devices by their number from 0, one bit each.
using DeviceSet = std::uint64_t;
inline constexpr int most_devices = 64;

/// Where a datum begins and is to end, by its address: the number of a device from 0, or -1 for the host. None: all in the host.
using Homes = std::function<int(const void*)>;

/// What lies between host memory and a device's.
struct DeviceLink {
    double bytes_per_second[2] = {0, 0}; ///< to it and from it
    Seconds latency = 0;                 ///< of a small copy
    Seconds takes(Bytes bytes, bool back) const { return latency + bytes / bytes_per_second[back]; }
};

/// A call's tasks on cores and devices in time: the idle ends, waits for copies and late results that no sum of work shows. Tasks
/// are taken by their longest path to the end, each by the unit that ends it first (HEFT, Topcuoglu et al. 2002), with copies one
/// after the other on each link, and two tasks of a device in flight. Devices have room for all, cores join nobody's operation.
class ForeseenSchedule {
public:
    /// What one task would take; `on_devices` by device, negative: it cannot have it.
    struct Work {
        Seconds on_core = 0;
        bool all_cores = false; ///< it submits tasks, which they share
        std::span<const Seconds> on_devices;
    };
    /// `cores` need not be whole.
    ForeseenSchedule(double cores, std::vector<DeviceLink> links, Homes homes = {});
    void add(const Work& work, std::span<const Access> accesses); ///< in the order of submission

    /// When the last result is back where its datum is at home, with these devices; 0: not foreseen, as it has too many tasks.
    /// O(tasks units).
    Seconds end(DeviceSet set) const;

private:
    struct Task {
        Seconds on_core;
        bool all_cores;
        std::uint32_t first_use, uses;
    };
    struct Use {
        std::uint32_t datum;
        bool reads, writes;
        Bytes bytes;
    };
    struct Edge {
        std::uint32_t before, after;
    };
    /// Who must have come before the next one that uses it.
    struct Last {
        std::uint32_t datum;
        std::int64_t writer = -1;
        std::vector<std::uint32_t> readers;
    };
    struct Run;
    std::vector<std::uint32_t> by_longest_path(DeviceSet set) const;

    static constexpr std::size_t most_tasks = std::size_t{1} << 14;
    const double cores_;
    const std::vector<DeviceLink> links_;
    const Homes homes_;
    std::vector<int> home_of_; ///< by datum
    std::vector<Task> tasks_;
    std::vector<Use> uses_;
    std::vector<Seconds> on_devices_; ///< of each task by device
    std::vector<Edge> edges_;         ///< by `after`
    std::unordered_map<const void*, Last> last_;
    bool too_many_ = false;
};

} // namespace trencadis::choices
