#include "machine/node_memory.hpp"

#include "machine/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis {
namespace {

/// hwloc's view of this system, loaded once; lives for ever, because work memory may be asked for in static destructors.
struct System {
    Topology topology;
    std::vector<int> numbers; ///< the system's number of each node

    System()
    {
        try {
            topology = load_topology();
        } catch (const Error&) {
            return; // then nothing is bound
        }
        hwloc_obj_t node = nullptr;
        while ((node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node)))
            numbers.push_back(static_cast<int>(node->os_index));
        // What hwloc was told to read instead of this system says nothing of this memory.
        if (!hwloc_topology_is_thissystem(topology.get())) numbers.clear();
    }
    int node_numbered(int number) const
    {
        const auto found = std::find(numbers.begin(), numbers.end(), number);
        return found == numbers.end() ? -1 : static_cast<int>(found - numbers.begin());
    }
};
const System& this_system()
{
    static const System& system = *new System;
    return system;
}

} // namespace

int memory_nodes() { return std::max(1, static_cast<int>(this_system().numbers.size())); }

bool bind_to_node(void* data, std::size_t bytes, int node)
{
    const System& system = this_system();
    if (node < 0 || node >= static_cast<int>(system.numbers.size()) || system.numbers.size() < 2) return false;
    const hwloc_obj_t object = hwloc_get_obj_by_type(system.topology.get(), HWLOC_OBJ_NUMANODE, static_cast<unsigned>(node));
    return object && hwloc_set_area_membind(system.topology.get(), data, bytes, object->nodeset, HWLOC_MEMBIND_BIND,
                                            HWLOC_MEMBIND_BYNODESET) == 0;
}

std::vector<int> nodes_of_pages(const void* data, std::size_t pages)
{
    std::vector<int> nodes(pages, 0);
    const System& system = this_system();
    if (system.numbers.size() < 2) return nodes;
    constexpr std::size_t at_a_time = 4096;
    std::vector<void*> addresses(at_a_time);
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data) / page_bytes * page_bytes;
    for (std::size_t done = 0; done < pages; done += at_a_time) {
        const std::size_t count = std::min(at_a_time, pages - done);
        for (std::size_t i = 0; i < count; ++i) addresses[i] = reinterpret_cast<void*>(first + (done + i) * page_bytes);
        // Without a list of nodes to move to, move_pages only reports.
        if (syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, nodes.data() + done, 0) != 0) return {};
    }
    for (int& node : nodes) node = node < 0 ? -1 : system.node_numbered(node);
    return nodes;
}

} // namespace trencadis
