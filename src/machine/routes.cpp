#include "machine/routes.hpp"

#include <algorithm>
#include <limits>

namespace trencadis {

namespace {

constexpr Bytes typical = 1e6;

} // namespace

Seconds Routes::Route::time(Bytes bytes) const
{
    if (!reachable) return std::numeric_limits<Seconds>::infinity();
    return links.empty() ? 0 : latency + bytes / bandwidth;
}

int find_place(const Machine& machine, std::string_view name)
{
    int place = 0;
    for (const MemoryNode& node : machine.nodes) {
        if (node.name == name) return place;
        ++place;
    }
    for (const Device& device : machine.devices) {
        if (device.name == name) return place;
        ++place;
    }
    for (const Junction& junction : machine.junctions) {
        if (junction.name == name) return place;
        ++place;
    }
    return -1;
}

Routes::Routes(const Machine& machine)
    : places_(static_cast<int>(machine.nodes.size() + machine.devices.size() + machine.junctions.size())), links_of_(places_),
      routes_(static_cast<std::size_t>(places_) * places_)
{
    for (std::size_t l = 0; l < machine.links.size(); ++l) {
        for (const std::string* end : {&machine.links[l].from, &machine.links[l].to}) {
            const int place = find_place(machine, *end);
            ends_.push_back(place);
            if (place >= 0) links_of_[place].push_back(static_cast<int>(l));
        }
    }
    for (int from = 0; from < places_; ++from) search(machine, from);
    const int nodes = static_cast<int>(machine.nodes.size());
    for (int from = 0; from < places_; ++from)
        for (int to = 0; to < places_; ++to) {
            Route& route = routes_[static_cast<std::size_t>(from) * places_ + to];
            for (const int end : {from, to})
                if (end < nodes && machine.nodes[end].bandwidth > 0 && !route.links.empty())
                    route.bandwidth = std::min(route.bandwidth, machine.nodes[end].bandwidth);
        }
}

/// Dijkstra without a heap: machines have tens of places.
void Routes::search(const Machine& machine, int from)
{
    std::vector<Seconds> cost(places_, std::numeric_limits<Seconds>::infinity());
    std::vector<bool> done(places_, false);
    Route* const routes = &routes_[static_cast<std::size_t>(from) * places_];
    cost[from] = 0;
    routes[from].reachable = true;
    for (;;) {
        int at = -1;
        for (int p = 0; p < places_; ++p)
            if (!done[p] && routes[p].reachable && (at < 0 || cost[p] < cost[at])) at = p;
        if (at < 0) return;
        done[at] = true;
        for (const int l : links_of_[at]) {
            const Link& link = machine.links[l];
            const int to = ends_[2 * l] == at ? ends_[2 * l + 1] : ends_[2 * l];
            const double bandwidth = link.towards(ends_[2 * l] == at);
            const Seconds through = cost[at] + link.latency + typical / bandwidth;
            if (to < 0 || done[to] || through >= cost[to]) continue;
            cost[to] = through;
            routes[to] = routes[at];
            routes[to].links.push_back(l);
            routes[to].latency += link.latency;
            routes[to].bandwidth = at == from ? bandwidth : std::min(routes[at].bandwidth, bandwidth);
            routes[to].over_memory |= at != from && at < static_cast<int>(machine.nodes.size());
            routes[to].reachable = true;
        }
    }
}

} // namespace trencadis
