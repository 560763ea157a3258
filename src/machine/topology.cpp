#include "machine/topology.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace trencadis {

namespace {

std::string told_to_read()
{
    for (const char* variable : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC"})
        if (const char* value = std::getenv(variable); value && *value) return fmt::format("{} is '{}'", variable, value);
    return "";
}

/// hwloc falls back to this system when it cannot use what it was told to read. A user who asked for another machine must not get
/// this one unawares.
void refuse_silent_fallback(hwloc_topology_t topology)
{
    const std::string told = told_to_read();
    const char* forced = std::getenv("HWLOC_THISSYSTEM");
    if (told.empty() || !hwloc_topology_is_thissystem(topology) || (forced && std::strcmp(forced, "0") != 0)) return;
    throw Error(ErrorCode::environment,
                fmt::format("{}, which hwloc cannot use; HWLOC_XMLFILE takes a file that lstopo wrote, HWLOC_SYNTHETIC a "
                            "description such as 'node:2 core:4 pu:1'",
                            told));
}

} // namespace

Topology load_topology()
{
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw Error(ErrorCode::out_of_memory, "hwloc has no memory for a topology");
    Topology topology(raw);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(raw) != 0)
        throw Error(ErrorCode::environment,
                    fmt::format("hwloc cannot read the machine: {} {}", std::strerror(errno), told_to_read()));
    refuse_silent_fallback(raw);
    return topology;
}

Bitmap usable_processors(hwloc_topology_t topology)
{
    Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
    if (!usable) throw Error(ErrorCode::out_of_memory, "hwloc has no memory for a set of processors");
    if (!hwloc_topology_is_thissystem(topology)) return usable;
    // The thread's own mask, not the process's: a mask set by taskset, numactl or os.sched_setaffinity is the calling
    // thread's, while hwloc's view of the process is the union over threads that may have been bound elsewhere.
    Bitmap mask(hwloc_bitmap_alloc());
    if (mask && hwloc_get_cpubind(topology, mask.get(), HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_intersects(mask.get(), usable.get()))
        hwloc_bitmap_and(usable.get(), usable.get(), mask.get());
    return usable;
}

std::string info_of(hwloc_topology_t topology, hwloc_obj_type_t type, const char* name)
{
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, 0);
    const char* value = object ? hwloc_obj_get_info_by_name(object, name) : nullptr;
    return value ? value : "";
}

} // namespace trencadis
