#pragma once
#include "base/node_bytes.hpp"

#include <cstddef>
#include <vector>

/// Memory of a chosen memory node, and the node that memory lies on. Nodes are numbered as in discover_machine().nodes. Any
/// thread.
namespace trencadis {

/// How many memory nodes this system has; asks hwloc once.
int memory_nodes();

/// Asks the system to place the pages of [data, data + bytes), which have not been touched yet, on one node. False: it cannot (a
/// system with one node, a container that may not, a node that does not exist), and they come to lie where they are first
/// touched.
bool bind_to_node(void* data, std::size_t bytes, int node);

/// The node of each of `pages` pages from the one that `data` lies in; -1 for pages that nobody has written yet. On a system with
/// one node all lie on it and the system is not asked; otherwise about 0.1 us per page (move_pages(2)). Empty when the system
/// does not say.
std::vector<int> nodes_of_pages(const void* data, std::size_t pages);

} // namespace trencadis
