#pragma once
#include "machine/machine.hpp"

#include <string_view>
#include <vector>

namespace trencadis {

/// Ways over a machine's links. Places are numbered: memory nodes, then devices, then junctions, each in the machine's order.
class Routes {
public:
    struct Route {
        std::vector<int> links;   ///< indices into Machine::links, in order; empty from a place to itself
        Seconds latency = 0;      ///< sum over the links
        double bandwidth = 0;     ///< of the narrowest link, or of the memory at an end; 0 when there is none
        bool over_memory = false; ///< some place between the ends is a memory node
        bool reachable = false;
        /// The time that so many bytes take when nothing else is on the way; infinite when there is no way, 0 from a place to
        /// itself.
        Seconds time(Bytes bytes) const;
    };

    explicit Routes(const Machine& machine);

    int places() const { return places_; }
    /// The quickest way for 1 MB, each link taken alone; of equals the one whose links come first in the machine.
    const Route& between(int from, int to) const { return routes_[static_cast<std::size_t>(from) * places_ + to]; }

private:
    void search(const Machine& machine, int from);

    int places_;
    std::vector<std::vector<int>> links_of_; ///< [place]
    std::vector<int> ends_;                  ///< [2 * link], [2 * link + 1]
    std::vector<Route> routes_;
};

/// Numbers as Routes has them.
inline int place_of_node(const Machine&, int node) { return node; }
inline int place_of_device(const Machine& machine, int device) { return static_cast<int>(machine.nodes.size()) + device; }
/// Not a place of Routes: the cores of a node, as the end of what they do to memory elsewhere. Numbers begin behind the devices.
inline int place_of_cores(const Machine& machine, int node)
{
    return static_cast<int>(machine.nodes.size() + machine.devices.size()) + node;
}
/// Number of a place by its name; -1 when there is none.
int find_place(const Machine& machine, std::string_view name);

} // namespace trencadis
