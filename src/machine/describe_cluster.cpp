// The part of a machine description that says of many hosts what they are and how they are joined.
#include "base/error.hpp"
#include "machine/describe_parts.hpp"

#include <string_view>

namespace trencadis {
namespace {

constexpr std::int64_t most_hosts = 32767; ///< owners of data are 16 bits
constexpr std::int64_t most_cores = 1'000'000;
constexpr std::int64_t most_links = 4'000'000; ///< the simulator needs some hundred bytes for each

const std::vector<std::string> kinds_of_network{"fat-tree", "dragonfly"};

/// Numbers that count what there is of something stay below a bound that no machine comes near; so no product overflows.
std::int64_t times(std::int64_t a, std::int64_t b) { return std::min<std::int64_t>(a * b, std::int64_t{1} << 31); }
std::int64_t product(const std::vector<int>& factors, std::size_t begin, std::size_t end)
{
    std::int64_t all = 1;
    for (std::size_t i = begin; i < end; ++i) all = times(all, factors[i]);
    return all;
}

void read_hosts(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("hosts");
    require_some(tables, root, "hosts");
    for (TomlTable& table : tables) {
        const Index count = table.integer_or("count", 1, 1), cores = table.integer("cores", 1);
        const int kind =
            machine.kinds.size() == 1 && !table.has("kind") ? 0 : table.one_of("kind", names_of(machine.kinds), "[[kinds]]");
        const Bytes bytes = table.number_or("bytes", 0);
        table.finish();
        if (static_cast<std::int64_t>(machine.nodes.size()) + count > most_hosts)
            table.complain("count", fmt::format("count of {} makes more than {} hosts", table.what(), most_hosts));
        if (static_cast<std::int64_t>(machine.cores.size()) + times(count, cores) > most_cores)
            table.complain("cores", fmt::format("{} has {} hosts with {} cores; a cluster has at most {} cores", table.what(),
                                                count, cores, most_cores));
        for (Index i = 0; i < count; ++i) {
            const int host = static_cast<int>(machine.nodes.size());
            machine.nodes.push_back({fmt::format("host{}", host), bytes, host});
            for (Index c = 0; c < cores; ++c) machine.cores.push_back({static_cast<int>(machine.cores.size()), kind, host});
        }
    }
}

std::int64_t links_of_fat_tree(const Network& tree)
{
    std::int64_t links = 0;
    for (std::size_t level = 0; level < tree.down.size(); ++level) {
        const std::int64_t below = times(product(tree.down, level, tree.down.size()), product(tree.up, 0, level));
        links += times(below, times(tree.up[level], tree.parallel[level]));
    }
    return links;
}

void read_fat_tree(TomlTable& table, Network& tree)
{
    tree.down = table.counts("down");
    tree.up = table.counts("up");
    tree.parallel = table.has("parallel") ? table.counts("parallel") : std::vector<int>(tree.down.size(), 1);
    for (const auto& [key, list] : {std::pair("up", &tree.up), {"parallel", &tree.parallel}})
        if (list->size() != tree.down.size())
            table.complain(key, fmt::format("{} of {} has {} numbers and down has {}; each has one per level", key, table.what(),
                                            list->size(), tree.down.size()));
    if (links_of_fat_tree(tree) > most_links)
        table.complain("down", fmt::format("{} has more than {} links", table.what(), most_links));
}

void read_dragonfly(TomlTable& table, Network& fly)
{
    const auto read = [&](std::string_view key) { return static_cast<int>(table.integer(key, 1)); };
    const auto links = [&](std::string_view key) { return static_cast<int>(table.integer_or(key, 1, 1)); };
    fly.groups = read("groups");
    fly.chassis = read("chassis");
    fly.routers = read("routers");
    fly.router_hosts = read("router_hosts");
    fly.group_links = links("group_links");
    fly.chassis_links = links("chassis_links");
    fly.router_links = links("router_links");
    // Each router of a group has the links to one other group, the router of one's own number stays without.
    if (fly.groups > times(fly.chassis, fly.routers))
        table.complain("groups", fmt::format("{} has {} groups of {} routers; a group needs one router for each group",
                                             table.what(), fly.groups, times(fly.chassis, fly.routers)));
    const std::int64_t inside = times(times(fly.chassis, fly.routers), fly.chassis + fly.routers);
    if (times(fly.groups, inside + fly.groups + times(times(fly.chassis, fly.routers), fly.router_hosts)) > most_links)
        table.complain("groups", fmt::format("{} has more than {} links", table.what(), most_links));
}

void read_network(TomlTable& table, Machine& machine)
{
    Network network;
    network.kind = Network::Kind{table.one_of("kind", kinds_of_network, "network")};
    network.bandwidth = table.positive("bandwidth");
    network.latency = table.number("latency");
    network.streams = static_cast<int>(table.integer_or("streams", network.streams, 1));
    if (network.kind == Network::Kind::fat_tree) read_fat_tree(table, network);
    else read_dragonfly(table, network);
    table.finish();
    if (network.streams > 64)
        table.complain("streams", fmt::format("streams of {} is {}; must be at most 64", table.what(), network.streams));
    const auto hosts = static_cast<std::int64_t>(machine.nodes.size());
    if (network.places() > most_hosts)
        table.complain("kind", fmt::format("{} has more than {} places for hosts", table.what(), most_hosts));
    if (network.places() < hosts)
        table.complain("kind",
                       fmt::format("{} has {} places and [[hosts]] are {}; it needs as many places as there are hosts or more",
                                   table.what(), network.places(), hosts));
    machine.network = std::move(network);
}

} // namespace

std::string_view network_word(Network::Kind kind) { return kinds_of_network[static_cast<std::size_t>(kind)]; }

std::int64_t Network::places() const
{
    return kind == Kind::fat_tree ? product(down, 0, down.size()) : times(times(groups, chassis), times(routers, router_hosts));
}

void read_cluster(TomlTable& root, Machine& machine)
{
    if (!root.has("hosts")) root.complain("network", "[network] joins [[hosts]], and there are none");
    std::optional<TomlTable> network = root.table("network");
    if (!network)
        root.complain("hosts",
                      "[[hosts]] need a [network] with kind, bandwidth and latency; hosts joined link by link are [[nodes]]");
    for (const char* other : {"nodes", "cores", "caches", "devices", "junctions", "links", "models"})
        if (root.has(other))
            root.complain(other,
                          fmt::format("[[{}]] beside [[hosts]]; a cluster is described by [[hosts]] and [network] alone", other));
    read_hosts(root, machine);
    read_network(*network, machine);
}

void require_room(const MemoryNode& memory, Bytes needed, std::string_view for_what)
{
    if (memory.bytes <= 0 || needed <= memory.bytes) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("{} needs {:.3g} GB for {} and has {:.3g} GB; choose a smaller n, or more hosts", memory.name,
                            needed * 1e-9, for_what, memory.bytes * 1e-9));
}

Machine first_hosts(Machine machine, int count)
{
    machine.base_w *= static_cast<double>(count) / static_cast<double>(machine.nodes.size());
    machine.nodes.resize(static_cast<std::size_t>(count));
    std::erase_if(machine.cores, [count](const Core& core) { return core.node >= count; });
    return machine;
}

} // namespace trencadis
