#include "machine/machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace trencadis {

namespace {

using Json = nlohmann::ordered_json;

template <class T, class F> Json list_of(const std::vector<T>& things, F object_of)
{
    Json list = Json::array();
    for (const T& thing : things) list.push_back(object_of(thing));
    return list;
}

/// A TOML basic string. Bytes that are not valid there (control characters) are written as escapes.
std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else out += c;
    }
    return out + '"';
}

/// Sizes in bytes are whole numbers and read better without exponents.
std::string whole_or_exact(double value)
{
    return value < 9e15 && value == static_cast<double>(static_cast<Index>(value)) ? fmt::format("{}", static_cast<Index>(value))
                                                                                   : fmt::format("{}", value);
}

} // namespace

std::string machine_to_json(const Machine& machine)
{
    const auto node_name = [&](int node) { return machine.nodes[node].name; };
    Json json;
    json["name"] = machine.name;
    json["summary"] = machine.summary;
    json["origin"] = machine.origin;
    json["kinds"] = list_of(machine.kinds, [](const CoreKind& k) {
        return Json{{"name", k.name}, {"peak_gflops", k.peak_gflops}};
    });
    json["cores"] = list_of(machine.cores, [&](const Core& c) {
        return Json{{"cpu", c.cpu}, {"kind", machine.kinds[c.kind].name}, {"node", node_name(c.node)}, {"gflops", c.gflops}};
    });
    json["caches"] = list_of(machine.caches, [](const Cache& c) {
        return Json{{"level", c.level}, {"bytes", c.bytes}, {"cores", c.cores}};
    });
    json["nodes"] = list_of(machine.nodes, [](const MemoryNode& n) { return Json{{"name", n.name}, {"bytes", n.bytes}}; });
    json["devices"] = list_of(machine.devices, [&](const Device& d) {
        return Json{
            {"name", d.name}, {"kind", d.kind}, {"node", node_name(d.node)}, {"bytes", d.bytes}, {"peak_gflops", d.peak_gflops}};
    });
    json["links"] = list_of(machine.links, [](const Link& l) {
        return Json{{"from", l.from}, {"to", l.to}, {"bandwidth", l.bandwidth}, {"latency", l.latency}};
    });
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string machine_to_toml(const Machine& machine)
{
    std::string out = fmt::format("name = {}\nsummary = {}\n", quoted(machine.name), quoted(machine.summary));
    const auto append = [&out]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
    };
    const auto node_name = [&](int node) { return quoted(machine.nodes[node].name); };
    for (const CoreKind& k : machine.kinds) append("\n[[kinds]]\nname = {}\npeak_gflops = {}\n", quoted(k.name), k.peak_gflops);
    for (const MemoryNode& n : machine.nodes)
        append("\n[[nodes]]\nname = {}\nbytes = {}\n", quoted(n.name), whole_or_exact(n.bytes));
    for (const Core& c : machine.cores)
        append("\n[[cores]]\ncpu = {}\nkind = {}\nnode = {}\ngflops = {}\n", c.cpu, quoted(machine.kinds[c.kind].name),
               node_name(c.node), c.gflops);
    for (const Cache& c : machine.caches)
        append("\n[[caches]]\nlevel = {}\nbytes = {}\ncores = [{}]\n", c.level, whole_or_exact(c.bytes),
               fmt::join(c.cores, ", "));
    for (const Device& d : machine.devices)
        append("\n[[devices]]\nname = {}\nkind = {}\nnode = {}\nbytes = {}\npeak_gflops = {}\n", quoted(d.name), quoted(d.kind),
               node_name(d.node), whole_or_exact(d.bytes), d.peak_gflops);
    for (const Link& l : machine.links)
        append("\n[[links]]\nfrom = {}\nto = {}\nbandwidth = {}\nlatency = {}\n", quoted(l.from), quoted(l.to),
               whole_or_exact(l.bandwidth), l.latency);
    return out;
}

} // namespace trencadis
