#include "machine/topology.hpp"

#include <fmt/format.h>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace trencadis {

namespace {

/// hwloc obeys its variables in every program, and one of them names folders of modules to load. They are not for a program that
/// runs with rights which its caller has not; the loader takes its own variables away from such programs in the same way.
void forget_words_to_hwloc()
{
    std::vector<std::string> names;
    for (char** entry = environ; entry && *entry; ++entry)
        if (std::strncmp(*entry, "HWLOC_", 6) == 0) names.emplace_back(*entry, std::strcspn(*entry, "="));
    for (const std::string& name : names) unsetenv(name.c_str());
}

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

/// The parts of hwloc that look for devices, and the one that asks each processor in turn, moving the calling thread there: the
/// system's files say the same, twenty times as fast.
void leave_out_devices(hwloc_topology_t topology, bool ask_processors)
{
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const char* component : {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "x86"})
        if (!ask_processors || std::strcmp(component, "x86") != 0)
            hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
}

/// hwloc goes on with what it has not got.
void require_memory()
{
    constexpr std::size_t enough = 1 << 20;
    void* const tried = mmap(nullptr, enough, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tried == MAP_FAILED) throw Error(ErrorCode::out_of_memory, "no memory to read the machine in");
    munmap(tried, enough);
}

Topology load(Devices devices, bool ask_processors)
{
    require_memory();
    if (getauxval(AT_SECURE)) forget_words_to_hwloc();
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw Error(ErrorCode::out_of_memory, "hwloc has no memory for a topology");
    Topology topology(raw);
    if (devices == Devices::looked_for) hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    else leave_out_devices(raw, ask_processors);
    if (hwloc_topology_load(raw) != 0)
        throw Error(ErrorCode::environment,
                    fmt::format("hwloc cannot read the machine: {} {}", std::strerror(errno), told_to_read()));
    refuse_silent_fallback(raw);
    return topology;
}

bool has_caches(hwloc_topology_t topology) { return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L1CACHE) > 0; }

} // namespace

Topology load_topology(Devices devices)
{
    Topology topology = load(devices, false);
    // Where the system's files say nothing of caches, as in some virtual machines, the processors have to be asked.
    if (devices == Devices::left_out && hwloc_topology_is_thissystem(topology.get()) && !has_caches(topology.get()))
        return load(devices, true);
    return topology;
}

std::string info_of(hwloc_topology_t topology, hwloc_obj_type_t type, const char* name)
{
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, 0);
    const char* value = object ? hwloc_obj_get_info_by_name(object, name) : nullptr;
    return value ? value : "";
}

} // namespace trencadis
