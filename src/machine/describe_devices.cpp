// Devices, junctions and links of a machine description.
#include "machine/describe_parts.hpp"

#include "machine/routes.hpp"

#include <array>

namespace trencadis {

namespace {

constexpr Index most_devices = 256;

/// "gpu" and count = 2 are "gpu0" and "gpu1", or go on counting behind those that are there.
std::string numbered(const std::string& base, const Machine& machine)
{
    const auto taken = place_names(machine);
    for (int number = 0;; ++number) {
        std::string name = fmt::format("{}{}", base, number);
        if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
    }
}

/// A core that drives a device drives only that one, and is one of the device's host.
void check_host_core(const TomlTable& table, const Machine& machine, int core, int node)
{
    if (core >= static_cast<int>(machine.cores.size()))
        table.complain("host_core", fmt::format("{} is driven by core {}, but cores are 0 to {}", table.what(), core,
                                                machine.cores.size() - 1));
    for (const Device& other : machine.devices)
        if (other.host_core == core)
            table.complain("host_core",
                           fmt::format("{} is driven by core {}, which drives '{}'; each device needs a core of its own",
                                       table.what(), core, other.name));
    if (machine.nodes[machine.cores[core].node].host != machine.nodes[node].host)
        table.complain("host_core", fmt::format("{} is driven by core {} of another host; it must be one of the host of '{}'",
                                                table.what(), core, machine.nodes[node].name));
}

} // namespace

std::vector<std::string> place_names(const Machine& machine)
{
    auto places = names_of(machine.nodes);
    for (const Device& device : machine.devices) places.push_back(device.name);
    for (const Junction& junction : machine.junctions) places.push_back(junction.name);
    return places;
}

void read_devices(TomlTable& root, Machine& machine)
{
    for (TomlTable& table : root.tables("devices")) {
        const std::string name = table.text("name");
        Device device;
        device.node = read_node(table, machine);
        device.bytes = table.number_or("bytes", 0);
        device.peak_gflops = table.number_or("peak_gflops", 0);
        table.one_of("kind", {"gpu"}, "kind of device");
        device.kind = "gpu";
        device.power = read_power(table);
        const bool several = table.has("count");
        const Index count = table.integer_or("count", 1, 1);
        if (count > most_devices)
            table.complain(
                "count", fmt::format("count of {} is {}; one machine has at most {} devices", table.what(), count, most_devices));
        const bool driven = table.has("host_core");
        const int first_core = driven ? static_cast<int>(table.integer("host_core", 0)) : -1;
        table.finish();
        if (!several) require_new(table, name, place_names(machine));
        for (int i = 0; i < count; ++i) {
            device.name = several ? numbered(name, machine) : name;
            device.host_core = driven ? first_core + i : -1;
            if (driven) check_host_core(table, machine, device.host_core, device.node);
            machine.devices.push_back(device);
        }
    }
}

void read_junctions(TomlTable& root, Machine& machine)
{
    for (TomlTable& table : root.tables("junctions")) {
        const std::string name = table.text("name");
        require_new(table, name, place_names(machine));
        table.finish();
        machine.junctions.push_back({name});
    }
}

void read_links(TomlTable& root, Machine& machine)
{
    const auto places = place_names(machine);
    const char* const kind_of_thing = "[[nodes]], [[devices]] or [[junctions]]";
    for (TomlTable& table : root.tables("links")) {
        Link link{places[table.one_of("from", places, kind_of_thing)], places[table.one_of("to", places, kind_of_thing)],
                  table.positive("bandwidth"), table.number("latency"), table.number_or("back", 0)};
        if (link.from == link.to)
            table.complain("to", fmt::format("{} leads from '{}' to itself; it must join two places", table.what(), link.to));
        for (const Link& other : machine.links)
            if ((other.from == link.from && other.to == link.to) || (other.from == link.to && other.to == link.from))
                table.complain("to",
                               fmt::format("{} joins '{}' and '{}' like one before it; one link serves both directions, two in "
                                           "parallel are one with their bandwidths added",
                                           table.what(), link.from, link.to));
        table.finish();
        machine.links.push_back(std::move(link));
    }
}

void require_connected(const TomlTable& root, const Machine& machine)
{
    if (machine.network || (machine.links.empty() && machine.kernels.empty())) return; // nobody said how its parts are joined
    const Routes routes(machine);
    const auto places = place_names(machine);
    const std::size_t memories = machine.nodes.size() + machine.devices.size();
    for (std::size_t place = 1; place < memories; ++place)
        if (!routes.between(0, static_cast<int>(place)).reachable)
            root.complain("links",
                          fmt::format("no [[links]] lead from '{}' to '{}'; add one with from, to, bandwidth and latency",
                                      places[0], places[place]));
}

} // namespace trencadis
