#pragma once
#include "machine/machine.hpp"
#include "machine/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

/// The parts of a machine description, each read by a function that knows the parts before it (see describe.cpp for the order).
namespace trencadis {

template <class Named> std::vector<std::string> names_of(const std::vector<Named>& things)
{
    std::vector<std::string> names;
    for (const Named& thing : things) names.push_back(thing.name);
    return names;
}

/// Complains unless `name`, the text of the table's key `name`, is none of `taken`.
inline void require_new(const TomlTable& table, const std::string& name, const std::vector<std::string>& taken)
{
    if (std::find(taken.begin(), taken.end(), name) != taken.end())
        table.complain("name", fmt::format("{} is called '{}' like one before it; names must differ", table.what(), name));
}
template <class Named> std::string new_name(TomlTable& table, const std::vector<Named>& taken)
{
    std::string name = table.text("name");
    require_new(table, name, names_of(taken));
    return name;
}

/// Memory nodes, devices and junctions: what links can lead to, and what therefore needs different names.
std::vector<std::string> place_names(const Machine& machine);
/// Complains where there are none of what a machine has at least one of: `key = []`.
void require_some(const std::vector<TomlTable>& tables, TomlTable& root, std::string_view key);
/// The node a core or device is on; may be left out when there is only one.
int read_node(TomlTable& table, const Machine& machine);
/// The clock settings of a core kind or device, fastest first.
std::vector<PowerState> read_power(TomlTable& table);

/// [[hosts]] and [network], instead of nodes, cores and what joins them.
void read_cluster(TomlTable& root, Machine& machine);
void read_devices(TomlTable& root, Machine& machine);
void read_junctions(TomlTable& root, Machine& machine);
void read_links(TomlTable& root, Machine& machine);
void read_kernels(TomlTable& root, Machine& machine);
void read_models(TomlTable& root, Machine& machine);
/// [[sources]]: checks the classes of the figures.
void read_sources(TomlTable& root);
/// Complains when a machine with links or kernels has a memory or device that no link leads to.
void require_connected(const TomlTable& root, const Machine& machine);

} // namespace trencadis
