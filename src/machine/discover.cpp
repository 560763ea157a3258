#include "base/lasting.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "machine/this_system.hpp"
#include "machine/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace trencadis {

namespace {

/// hwloc's numbers of the objects that made it into the machine, by their place in it.
struct Places {
    std::vector<hwloc_obj_t> cores;
    std::vector<hwloc_obj_t> nodes;
};

std::vector<hwloc_obj_t> objects_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t o = hwloc_get_next_obj_by_type(topology, type, nullptr); o;
         o = hwloc_get_next_obj_by_type(topology, type, o))
        objects.push_back(o);
    return objects;
}

/// A kind's name from what hwloc knows of it: the vendor's word, else the top frequency, else nothing.
std::string kind_name(unsigned count, hwloc_info_s* infos)
{
    std::string frequency;
    for (unsigned i = 0; i < count; ++i) {
        const std::string_view name = infos[i].name, value = infos[i].value;
        if (name == "CoreType" && value == "IntelCore") return "P-core";
        if (name == "CoreType" && value == "IntelAtom") return "E-core";
        if (name == "CoreType") return std::string(value);
        if (name == "FrequencyMaxMHz") frequency = fmt::format("core-{}MHz", value);
    }
    return frequency;
}

/// hwloc's kinds, slowest first; one called "core" when it knows none or a single one.
std::vector<CoreKind> kinds_of(hwloc_topology_t topology)
{
    const int count = hwloc_cpukinds_get_nr(topology, 0);
    if (count <= 1) return {{"core"}};
    std::vector<CoreKind> kinds;
    for (int k = 0; k < count; ++k) {
        unsigned info_count = 0;
        hwloc_info_s* infos = nullptr;
        hwloc_cpukinds_get_info(topology, k, nullptr, nullptr, &info_count, &infos, 0);
        std::string name = kind_name(info_count, infos);
        const bool taken = std::any_of(kinds.begin(), kinds.end(), [&](const CoreKind& other) { return other.name == name; });
        if (name.empty() || taken) name = fmt::format("{}-{}", name.empty() ? "kind" : name, k);
        kinds.push_back({name});
    }
    return kinds;
}

int kind_of(hwloc_topology_t topology, hwloc_const_bitmap_t processors)
{
    return std::max(0, hwloc_cpukinds_get_by_cpuset(topology, processors, 0));
}

int nearest_node(const Places& places, hwloc_const_bitmap_t processors)
{
    for (std::size_t n = 0; n < places.nodes.size(); ++n)
        if (hwloc_bitmap_intersects(places.nodes[n]->cpuset, processors)) return static_cast<int>(n);
    return 0;
}

void add_nodes(hwloc_topology_t topology, Machine& machine, Places& places)
{
    const std::vector<hwloc_obj_t> packages = objects_of(topology, HWLOC_OBJ_PACKAGE);
    places.nodes = objects_of(topology, HWLOC_OBJ_NUMANODE);
    for (const hwloc_obj_t node : places.nodes) {
        const Bytes bytes = static_cast<Bytes>(node->attr->numanode.local_memory);
        MemoryNode& known = machine.nodes.emplace_back(MemoryNode{fmt::format("node{}", node->os_index), bytes});
        for (std::size_t p = 0; p < packages.size(); ++p)
            if (hwloc_bitmap_isincluded(node->cpuset, packages[p]->cpuset)) known.package = static_cast<int>(p);
    }
}

/// Systems that hide their cores (some virtual machines) show hardware threads only: each then counts as a core.
void add_cores(hwloc_topology_t topology, WholeMachine& whole, Places& places)
{
    std::vector<hwloc_obj_t> candidates = objects_of(topology, HWLOC_OBJ_CORE);
    if (candidates.empty()) candidates = objects_of(topology, HWLOC_OBJ_PU);
    for (const hwloc_obj_t core : candidates) {
        std::vector<int>& threads = whole.threads.emplace_back();
        for (int cpu = -1; (cpu = hwloc_bitmap_next(core->cpuset, cpu)) >= 0;) threads.push_back(cpu);
        whole.machine.cores.push_back({threads.front(), kind_of(topology, core->cpuset), nearest_node(places, core->cpuset)});
        places.cores.push_back(core);
    }
}

/// Drops kinds of which no core may be used, so that "one kind" means one.
void drop_unused_kinds(Machine& machine)
{
    for (int k = static_cast<int>(machine.kinds.size()) - 1; k >= 0; --k) {
        if (std::any_of(machine.cores.begin(), machine.cores.end(), [&](const Core& core) { return core.kind == k; })) continue;
        machine.kinds.erase(machine.kinds.begin() + k);
        for (Core& core : machine.cores) core.kind -= core.kind > k;
    }
}

void add_caches(hwloc_topology_t topology, Machine& machine, const Places& places)
{
    for (hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
        for (const hwloc_obj_t object : objects_of(topology, type)) {
            Cache cache{static_cast<int>(object->attr->cache.depth), static_cast<Bytes>(object->attr->cache.size), {}};
            for (std::size_t c = 0; c < places.cores.size(); ++c)
                if (hwloc_bitmap_intersects(object->cpuset, places.cores[c]->cpuset)) cache.cores.push_back(static_cast<int>(c));
            if (!cache.cores.empty()) machine.caches.push_back(std::move(cache));
        }
    }
}

Bytes device_memory(hwloc_obj_t device)
{
    for (const char* key : {"CUDAGlobalMemorySize", "OpenCLGlobalMemorySize", "LevelZeroHBMSize"}) // in KiB
        if (const char* value = hwloc_obj_get_info_by_name(device, key)) return std::strtod(value, nullptr) * 1024;
    return 0;
}

/// One entry per GPU, although CUDA, OpenCL and NVML may each show it: the first of those below one PCI function. hwloc sees
/// GPUs when its plugins are installed.
void add_gpus(hwloc_topology_t topology, Machine& machine, const Places& places)
{
    std::vector<hwloc_obj_t> seen;
    for (hwloc_obj_t device = hwloc_get_next_osdev(topology, nullptr); device; device = hwloc_get_next_osdev(topology, device)) {
        const auto type = device->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_COPROC && type != HWLOC_OBJ_OSDEV_GPU) continue;
        const std::string_view name = device->name ? device->name : "";
        if (type == HWLOC_OBJ_OSDEV_GPU && !name.starts_with("nvml") && !name.starts_with("rsmi")) continue; // a display
        if (std::find(seen.begin(), seen.end(), device->parent) != seen.end()) continue;
        seen.push_back(device->parent);
        const hwloc_obj_t host = hwloc_get_non_io_ancestor_obj(topology, device);
        const int node = host && host->cpuset ? nearest_node(places, host->cpuset) : 0;
        machine.devices.push_back({std::string(name), "gpu", node, device_memory(device)});
    }
}

std::string processor_model(hwloc_topology_t topology)
{
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE})
        if (std::string model = info_of(topology, type, "CPUModel"); !model.empty()) return model;
    return "unnamed processor";
}

std::string summary_of(const std::string& model, const Machine& machine)
{
    const auto counted = [](std::size_t count, std::string_view what) {
        return fmt::format(", {} {}{}", count, what, count == 1 ? "" : "s");
    };
    std::string text = model + counted(machine.cores.size(), "core");
    if (machine.kinds.size() > 1) text += counted(machine.kinds.size(), "kind").replace(0, 1, " of");
    if (machine.nodes.size() > 1) text += counted(machine.nodes.size(), "memory node");
    if (!machine.devices.empty()) text += counted(machine.devices.size(), "GPU");
    return text;
}

/// "discovered" for this system; what hwloc was told to read instead otherwise, since nothing there can be measured.
std::string origin_of(hwloc_topology_t topology)
{
    if (hwloc_topology_is_thissystem(topology)) return "discovered";
    if (const char* file = std::getenv("HWLOC_XMLFILE")) return file;
    if (const char* text = std::getenv("HWLOC_SYNTHETIC")) return fmt::format("HWLOC_SYNTHETIC={}", text);
    return "hwloc, told that this is another system";
}

WholeMachine read_whole(hwloc_topology_t topology)
{
    WholeMachine whole;
    Machine& machine = whole.machine;
    Places places;
    machine.kinds = kinds_of(topology);
    add_nodes(topology, machine, places);
    add_cores(topology, whole, places);
    add_caches(topology, machine, places);
    add_gpus(topology, machine, places);
    machine.name = info_of(topology, HWLOC_OBJ_MACHINE, "HostName");
    if (machine.name.empty()) machine.name = "unnamed";
    machine.origin = origin_of(topology);
    whole.model = processor_model(topology);
    whole.is_this_system = hwloc_topology_is_thissystem(topology) != 0;
    return whole;
}

/// `place`: of each core in the new list, -1: not in it.
void renumber_caches(Machine& machine, const std::vector<int>& place)
{
    for (Cache& cache : machine.caches) {
        std::vector<int> left;
        for (const int core : cache.cores)
            if (place[core] >= 0) left.push_back(place[core]);
        cache.cores = std::move(left);
    }
    std::erase_if(machine.caches, [](const Cache& cache) { return cache.cores.empty(); });
}

/// One entry per core of which one of the hardware threads `cpus` may be used; that one, or all cores if there is none.
Machine part_of(const WholeMachine& whole, const std::vector<int>& cpus)
{
    Machine machine = whole.machine;
    machine.cores.clear();
    std::vector<int> place(whole.machine.cores.size(), -1);
    for (std::size_t c = 0; c < place.size(); ++c)
        for (const int cpu : whole.threads[c]) {
            if (!std::binary_search(cpus.begin(), cpus.end(), cpu)) continue;
            place[c] = static_cast<int>(machine.cores.size());
            machine.cores.push_back(whole.machine.cores[c]);
            machine.cores.back().cpu = cpu;
            break;
        }
    if (machine.cores.empty()) return machine;
    renumber_caches(machine, place);
    drop_unused_kinds(machine);
    return machine;
}

Machine usable_part(const WholeMachine& whole)
{
    Machine machine = whole.is_this_system ? part_of(whole, usable_processors()) : whole.machine;
    if (machine.cores.empty()) machine = whole.machine;
    if (machine.cores.size() == whole.machine.cores.size()) drop_unused_kinds(machine);
    machine.summary = summary_of(whole.model, machine);
    return machine;
}

} // namespace

const ThisSystem& this_system()
{
    static constinit Lasting<const ThisSystem> system;
    return system.get([] {
        auto read = std::make_unique<ThisSystem>();
        read->topology = load_topology(Devices::left_out);
        read->whole = read_whole(read->topology.get());
        for (const hwloc_obj_t node : objects_of(read->topology.get(), HWLOC_OBJ_NUMANODE))
            if (read->whole.is_this_system) read->nodes.push_back(static_cast<int>(node->os_index));
        if (read->nodes.size() < 2) read->topology.reset(); // with it go hwloc's plug-ins
        return read.release();
    });
}

Machine discover_machine() { return usable_part(read_whole(load_topology(Devices::looked_for).get())); }

Machine machine_at_hand() { return usable_part(this_system().whole); }

} // namespace trencadis
