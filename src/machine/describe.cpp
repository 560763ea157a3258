// Reading a machine description. The keys are those that machine_to_toml writes; machines/*.toml are examples with comments.
#include "machine/describe.hpp"

#include "base/error.hpp"
#include "machine/describe_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace trencadis {

namespace {

void read_kinds(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("kinds");
    require_some(tables, root, "kinds");
    for (TomlTable& table : tables) {
        CoreKind kind{new_name(table, machine.kinds), table.number_or("peak_gflops", 0), {}};
        if (!machine.kinds.empty() && kind.peak_gflops > 0 && kind.peak_gflops < machine.kinds.back().peak_gflops)
            table.complain("peak_gflops",
                           fmt::format("{} is slower than the kind before it; list the slowest kind first", table.what()));
        kind.power = read_power(table);
        kind.bytes_under_way = table.number_or("bytes_under_way", 0);
        table.finish();
        machine.kinds.push_back(std::move(kind));
    }
}

void read_nodes(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("nodes");
    require_some(tables, root, "nodes");
    for (TomlTable& table : tables) {
        machine.nodes.push_back({new_name(table, machine.nodes), table.number_or("bytes", 0),
                                 static_cast<int>(table.integer_or("host", 0, 0)), table.number_or("bandwidth", 0),
                                 table.number_or("package_w", 0), table.number_or("memory_w", 0),
                                 static_cast<int>(table.integer_or("package", -1, 0))});
        table.finish();
    }
}

void read_cores(TomlTable& root, Machine& machine)
{
    auto tables = root.tables("cores");
    require_some(tables, root, "cores");
    std::set<int> cpus;
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
            if (!cpus.insert(cpu + i).second)
                table.complain("cpu",
                               fmt::format("{} is cpu {}, which an earlier one is; numbers must differ", table.what(), cpu + i));
            machine.cores.push_back({cpu + i, kind, node, gflops});
        }
    }
}

/// One cache of all the cores named, or, with `each`, one for every so many of them.
void read_caches(TomlTable& root, Machine& machine)
{
    for (TomlTable& table : root.tables("caches")) {
        const int level = static_cast<int>(table.integer("level", 1));
        const Bytes bytes = table.number("bytes");
        const auto cores = table.indices("cores", static_cast<int>(machine.cores.size()));
        const auto each = static_cast<std::size_t>(table.integer_or("each", static_cast<Index>(cores.size()), 1));
        if (cores.size() % each != 0)
            table.complain("each", fmt::format("{} has one cache for each {} of {} cores; it must divide them evenly",
                                               table.what(), each, cores.size()));
        table.finish();
        for (auto begin = cores.begin(); begin != cores.end(); begin += static_cast<std::ptrdiff_t>(each))
            machine.caches.push_back({level, bytes, {begin, begin + static_cast<std::ptrdiff_t>(each)}});
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

constexpr std::uintmax_t largest_file = 16 << 20; // the largest described machine has some 10 KiB

constexpr const char* what_a_machine_is = "a machine is a name ('trencadis list machines') or a TOML file";

/// What is not there is left to reading it.
void require_plain_file(const std::string& file)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status)) return;
    if (std::filesystem::is_directory(status))
        throw Error(ErrorCode::bad_argument, fmt::format("'{}' is a folder; {}", file, what_a_machine_is));
    if (!std::filesystem::is_regular_file(status))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' is {}; a machine is read more than once, so give a plain file", file,
                                std::filesystem::is_fifo(status) ? "a pipe" : "a device or a socket"));
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error && size > largest_file)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' has {} bytes; the TOML file of a machine has {} at most", file, size, largest_file));
}

} // namespace

void require_some(const std::vector<TomlTable>& tables, TomlTable& root, std::string_view key)
{
    if (tables.empty()) root.complain(key, fmt::format("no [[{0}]]; a machine has at least one, written [[{0}]]", key));
}

int read_node(TomlTable& table, const Machine& machine)
{
    if (!table.has("node") && machine.nodes.size() == 1) return 0;
    return table.one_of("node", names_of(machine.nodes), "[[nodes]]");
}

Machine parse_machine(std::string_view text, const std::string& file)
{
    const toml::table table = parse(text, file);
    TomlTable root(table, file, "the machine");
    Machine machine;
    machine.name = root.text("name");
    machine.summary = root.text_or("summary", "");
    machine.origin = file;
    read_kinds(root, machine);
    if (root.has("hosts") || root.has("network")) read_cluster(root, machine);
    else {
        read_nodes(root, machine);
        read_cores(root, machine);
    }
    read_caches(root, machine);
    read_devices(root, machine);
    read_junctions(root, machine);
    read_links(root, machine);
    read_kernels(root, machine);
    read_models(root, machine);
    read_sources(root);
    machine.base_w = root.number_or("base_w", 0);
    root.finish();
    require_connected(root, machine);
    return machine;
}

Machine read_machine_file(const std::string& file)
{
    require_plain_file(file);
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    if (!text) stream.peek(); // nothing came: an empty file, or an error, which the stream then meets itself
    if (!stream) throw Error(ErrorCode::bad_argument, fmt::format("cannot read '{}'; {}", file, what_a_machine_is));
    return parse_machine(text.str(), file);
}

} // namespace trencadis
