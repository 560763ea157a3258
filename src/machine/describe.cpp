// Reading a machine description. The keys are those that machine_to_toml writes; machines/*.toml are examples with comments.
#include "machine/describe.hpp"

#include "base/error.hpp"
#include "machine/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace trencadis {

namespace {

template <class Named> std::vector<std::string> names_of(const std::vector<Named>& things)
{
    std::vector<std::string> names;
    for (const Named& thing : things) names.push_back(thing.name);
    return names;
}

template <class Named> std::string new_name(TomlTable& table, const std::vector<Named>& taken)
{
    std::string name = table.text("name");
    if (std::any_of(taken.begin(), taken.end(), [&](const Named& other) { return other.name == name; }))
        table.complain("name", fmt::format("{} is called '{}' like one before it; names must differ", table.what(), name));
    return name;
}

void require_some(const std::vector<TomlTable>& tables, TomlTable& root, std::string_view key)
{
    if (tables.empty()) root.complain(key, fmt::format("no [[{0}]]; a machine has at least one, written [[{0}]]", key));
}

void read_kinds(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("kinds");
    require_some(tables, root, "kinds");
    for (TomlTable& table : tables) {
        CoreKind kind{new_name(table, machine.kinds), table.number_or("peak_gflops", 0)};
        if (!machine.kinds.empty() && kind.peak_gflops > 0 && kind.peak_gflops < machine.kinds.back().peak_gflops)
            table.complain("peak_gflops",
                           fmt::format("{} is slower than the kind before it; list the slowest kind first", table.what()));
        table.finish();
        machine.kinds.push_back(std::move(kind));
    }
}

void read_nodes(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("nodes");
    require_some(tables, root, "nodes");
    for (TomlTable& table : tables) {
        machine.nodes.push_back({new_name(table, machine.nodes), table.number_or("bytes", 0)});
        table.finish();
    }
}

/// The node a core or device is on; may be left out when there is only one.
int read_node(TomlTable& table, const Machine& machine)
{
    if (!table.has("node") && machine.nodes.size() == 1) return 0;
    return table.one_of("node", names_of(machine.nodes), "[[nodes]]");
}

void read_cores(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("cores");
    require_some(tables, root, "cores");
    for (TomlTable& table : tables) {
        const int kind = table.one_of("kind", names_of(machine.kinds), "[[kinds]]");
        const int node = read_node(table, machine);
        const double gflops = table.number_or("gflops", 0);
        const Index count = table.integer_or("count", 1, 1);
        const int position = static_cast<int>(machine.cores.size());
        const int cpu = static_cast<int>(table.integer_or("cpu", position, 0));
        if (count > 1 && table.has("cpu"))
            table.complain("cpu",
                           fmt::format("{} has both cpu and count = {}; write one [[cores]] per cpu", table.what(), count));
        table.finish();
        for (int i = 0; i < count; ++i) {
            const auto same = [&](const Core& core) { return core.cpu == cpu + i; };
            if (std::any_of(machine.cores.begin(), machine.cores.end(), same))
                table.complain("cpu",
                               fmt::format("{} is cpu {}, which an earlier one is; numbers must differ", table.what(), cpu + i));
            machine.cores.push_back({cpu + i, kind, node, gflops});
        }
    }
}

void read_caches(TomlTable& root, Machine& machine)
{
    for (TomlTable& table : root.tables("caches")) {
        const int level = static_cast<int>(table.integer("level", 1));
        machine.caches.push_back({level, table.number("bytes"), table.indices("cores", static_cast<int>(machine.cores.size()))});
        table.finish();
    }
}

void read_devices(TomlTable& root, Machine& machine)
{
    for (TomlTable& table : root.tables("devices")) {
        Device device{new_name(table, machine.devices), "", read_node(table, machine), table.number_or("bytes", 0),
                      table.number_or("peak_gflops", 0)};
        table.one_of("kind", {"gpu"}, "kind of device");
        device.kind = "gpu";
        table.finish();
        machine.devices.push_back(std::move(device));
    }
}

void read_links(TomlTable& root, Machine& machine)
{
    auto places = names_of(machine.nodes);
    for (const Device& device : machine.devices) places.push_back(device.name);
    for (TomlTable& table : root.tables("links")) {
        Link link{places[table.one_of("from", places, "[[nodes]] or [[devices]]")],
                  places[table.one_of("to", places, "[[nodes]] or [[devices]]")], table.number("bandwidth"),
                  table.number("latency")};
        if (link.bandwidth == 0)
            table.complain("bandwidth",
                           fmt::format("bandwidth of {} is 0; it must be above 0, in bytes per second", table.what()));
        if (link.from == link.to)
            table.complain("to", fmt::format("{} leads from '{}' to itself; it must join two places", table.what(), link.to));
        table.finish();
        machine.links.push_back(std::move(link));
    }
}

toml::table parse(std::string_view text, const std::string& file)
{
    try {
        return toml::parse(text, file);
    } catch (const toml::parse_error& error) {
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{}:{}: not TOML: {}", file, error.source().begin.line, error.description()));
    }
}

} // namespace

Machine parse_machine(std::string_view text, const std::string& file)
{
    const toml::table table = parse(text, file);
    TomlTable root(table, file, "the machine");
    Machine machine;
    machine.name = root.text("name");
    machine.summary = root.text_or("summary", "");
    machine.origin = file;
    read_kinds(root, machine);
    read_nodes(root, machine);
    read_cores(root, machine);
    read_caches(root, machine);
    read_devices(root, machine);
    read_links(root, machine);
    root.finish();
    return machine;
}

Machine read_machine_file(const std::string& file)
{
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    if (!stream)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("cannot read '{}'; a machine is a name ('trencadis list machines') or a TOML file", file));
    return parse_machine(text.str(), file);
}

} // namespace trencadis
