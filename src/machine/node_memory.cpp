#include "machine/node_memory.hpp"

#include "machine/this_system.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis {
namespace {

/// The system's number of each memory node; none where hwloc cannot read the machine, nothing is bound then.
std::span<const int> node_numbers()
{
    try {
        return this_system().nodes;
    } catch (const Error&) {
        return {};
    }
}

int node_numbered(int number)
{
    const std::span<const int> numbers = node_numbers();
    const auto found = std::find(numbers.begin(), numbers.end(), number);
    return found == numbers.end() ? -1 : static_cast<int>(found - numbers.begin());
}

} // namespace

int memory_nodes() { return std::max(1, static_cast<int>(node_numbers().size())); }

bool bind_to_node(void* data, std::size_t bytes, int node)
{
    const int count = static_cast<int>(node_numbers().size());
    if (node < 0 || node >= count || count < 2) return false;
    const hwloc_topology_t topology = this_system().topology.get();
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(node));
    return object &&
           hwloc_set_area_membind(topology, data, bytes, object->nodeset, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET) == 0;
}

std::vector<int> nodes_of_pages(const void* data, std::size_t pages)
{
    std::vector<int> nodes(pages, 0);
    if (node_numbers().size() < 2) return nodes;
    constexpr std::size_t at_a_time = 4096;
    std::vector<void*> addresses(std::min(at_a_time, pages));
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data) / page_bytes * page_bytes;
    for (std::size_t done = 0; done < pages; done += at_a_time) {
        const std::size_t count = std::min(at_a_time, pages - done);
        for (std::size_t i = 0; i < count; ++i) addresses[i] = reinterpret_cast<void*>(first + (done + i) * page_bytes);
        // Without a list of nodes to move to, move_pages only reports.
        if (syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, nodes.data() + done, 0) != 0) return {};
    }
    for (int& node : nodes) node = node < 0 ? -1 : node_numbered(node);
    return nodes;
}

} // namespace trencadis
