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

Json power_of(const std::vector<PowerState>& states)
{
    return list_of(states, [](const PowerState& p) {
        return Json{{"name", p.name}, {"speed", p.speed}, {"idle_w", p.idle_w}, {"busy_w", p.busy_w}, {"poll_w", p.poll_w}};
    });
}

Json network_of(const Network& n)
{
    Json json{{"kind", network_word(n.kind)}, {"bandwidth", n.bandwidth}, {"latency", n.latency}, {"streams", n.streams}};
    if (n.kind == Network::Kind::fat_tree) {
        json.update({{"down", n.down}, {"up", n.up}, {"parallel", n.parallel}});
        return json;
    }
    json.update(
        {{"groups", n.groups}, {"group_links", n.group_links}, {"chassis", n.chassis}, {"chassis_links", n.chassis_links}});
    json.update({{"routers", n.routers}, {"router_links", n.router_links}, {"router_hosts", n.router_hosts}});
    return json;
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

Json memory_of(const MemoryNode& n)
{
    return Json{{"name", n.name},
                {"bytes", n.bytes},
                {"host", n.host},
                {"bandwidth", n.bandwidth},
                {"package_w", n.package_w},
                {"memory_w", n.memory_w},
                {"package", n.package < 0 ? Json() : Json(n.package)}};
}

Json kernel_of(const KernelTime& k)
{
    return Json{{"kernel", k.kernel},
                {"on", k.on},
                {"precision", std::string(1, k.precision ? k.precision : 'd')},
                {"gflops", k.gflops},
                {"half_edge", k.half_edge},
                {"memory_bound", k.memory_bound}};
}

} // namespace

std::string machine_to_json(const Machine& machine)
{
    const auto node_name = [&](int node) { return machine.nodes[node].name; };
    Json json;
    json["name"] = machine.name;
    json["summary"] = machine.summary;
    json["origin"] = machine.origin;
    json["base_w"] = machine.base_w;
    json["kinds"] = list_of(machine.kinds, [](const CoreKind& k) {
        return Json{{"name", k.name},
                    {"peak_gflops", k.peak_gflops},
                    {"power", power_of(k.power)},
                    {"bytes_under_way", k.bytes_under_way}};
    });
    json["cores"] = list_of(machine.cores, [&](const Core& c) {
        return Json{{"cpu", c.cpu}, {"kind", machine.kinds[c.kind].name}, {"node", node_name(c.node)}, {"gflops", c.gflops}};
    });
    json["caches"] = list_of(machine.caches, [](const Cache& c) {
        return Json{{"level", c.level}, {"bytes", c.bytes}, {"cores", c.cores}};
    });
    json["nodes"] = list_of(machine.nodes, memory_of);
    json["devices"] = list_of(machine.devices, [&](const Device& d) {
        return Json{{"name", d.name},
                    {"kind", d.kind},
                    {"node", node_name(d.node)},
                    {"bytes", d.bytes},
                    {"peak_gflops", d.peak_gflops},
                    {"host_core", d.host_core < 0 ? Json() : Json(d.host_core)},
                    {"power", power_of(d.power)}};
    });
    json["junctions"] = list_of(machine.junctions, [](const Junction& j) { return Json{{"name", j.name}}; });
    json["links"] = list_of(machine.links, [](const Link& l) {
        return Json{{"from", l.from}, {"to", l.to}, {"bandwidth", l.bandwidth}, {"latency", l.latency}, {"back", l.back}};
    });
    if (machine.network) json["network"] = network_of(*machine.network);
    json["kernels"] = list_of(machine.kernels, kernel_of);
    json["unadjusted"] = list_of(machine.unadjusted, kernel_of);
    json["models"] = list_of(machine.models, [](const ExecutionModel& m) {
        return Json{{"name", m.name}, {"summary", m.summary}, {"cores", m.cores}};
    });
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

/// Collects the text of a description, table by table.
class TomlWriter {
public:
    explicit TomlWriter(const Machine& machine) : machine_(machine) {}

    std::string text()
    {
        line("name = {}\nsummary = {}\nbase_w = {}", quoted(machine_.name), quoted(machine_.summary), machine_.base_w);
        kinds();
        if (machine_.network) cluster(*machine_.network);
        else {
            units();
            memories();
        }
        for (const Link& l : machine_.links)
            line("\n[[links]]\nfrom = {}\nto = {}\nbandwidth = {}\nlatency = {}\nback = {}", quoted(l.from), quoted(l.to),
                 whole_or_exact(l.bandwidth), l.latency, whole_or_exact(l.back));
        kernels("kernels", machine_.kernels);
        kernels("unadjusted", machine_.unadjusted);
        for (const ExecutionModel& m : machine_.models)
            line("\n[[models]]\nname = {}\nsummary = {}\ncores = [{}]", quoted(m.name), quoted(m.summary),
                 fmt::join(m.cores, ", "));
        return std::move(out_);
    }

private:
    template <class... Values> void line(fmt::format_string<Values...> format, Values&&... values)
    {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
        out_ += '\n';
    }
    std::string node_name(int node) const { return quoted(machine_.nodes[node].name); }
    void power(std::string_view of, const std::vector<PowerState>& states)
    {
        for (const PowerState& p : states)
            line("[[{}.power]]\nname = {}\nspeed = {}\nidle_w = {}\nbusy_w = {}\npoll_w = {}", of, quoted(p.name), p.speed,
                 p.idle_w, p.busy_w, p.poll_w);
    }
    void kinds()
    {
        for (const CoreKind& k : machine_.kinds) {
            line("\n[[kinds]]\nname = {}\npeak_gflops = {}", quoted(k.name), k.peak_gflops);
            if (k.bytes_under_way > 0) line("bytes_under_way = {}", whole_or_exact(k.bytes_under_way));
            power("kinds", k.power);
        }
    }
    void kernels(std::string_view table, const std::vector<KernelTime>& times)
    {
        for (const KernelTime& k : times) {
            line("\n[[{}]]\nkernel = {}\non = {}\ngflops = {}\nhalf_edge = {}", table, quoted(k.kernel), quoted(k.on), k.gflops,
                 k.half_edge);
            if (k.precision) line("precision = {}", quoted(std::string(1, k.precision)));
            if (k.memory_bound) line("bound = \"memory\"");
        }
    }
    /// Hosts one after the other that are alike are one table.
    void cluster(const Network& network)
    {
        struct Hosts {
            Bytes bytes;
            int kind;
            Index cores, count;
        };
        std::vector<Index> cores(machine_.nodes.size());
        std::vector<int> kind(machine_.nodes.size());
        for (const Core& c : machine_.cores) {
            ++cores[c.node];
            kind[c.node] = c.kind;
        }
        std::vector<Hosts> runs;
        for (std::size_t h = 0; h < machine_.nodes.size(); ++h) {
            const Hosts one{machine_.nodes[h].bytes, kind[h], cores[h], 1};
            const bool like =
                !runs.empty() && runs.back().bytes == one.bytes && runs.back().kind == one.kind && runs.back().cores == one.cores;
            if (like) ++runs.back().count;
            else runs.push_back(one);
        }
        for (const Hosts& h : runs)
            line("\n[[hosts]]\ncount = {}\ncores = {}\nkind = {}\nbytes = {}", h.count, h.cores,
                 quoted(machine_.kinds[h.kind].name), whole_or_exact(h.bytes));
        line("\n[network]"); // its values are written alike in JSON and TOML
        const Json values = network_of(network);
        for (const auto& [key, value] : values.items()) line("{} = {}", key, value.dump());
    }
    void units()
    {
        for (const Core& c : machine_.cores)
            line("\n[[cores]]\ncpu = {}\nkind = {}\nnode = {}\ngflops = {}", c.cpu, quoted(machine_.kinds[c.kind].name),
                 node_name(c.node), c.gflops);
        for (const Device& d : machine_.devices) {
            line("\n[[devices]]\nname = {}\nkind = {}\nnode = {}\nbytes = {}\npeak_gflops = {}", quoted(d.name), quoted(d.kind),
                 node_name(d.node), whole_or_exact(d.bytes), d.peak_gflops);
            if (d.host_core >= 0) line("host_core = {}", d.host_core);
            power("devices", d.power);
        }
    }
    void memories()
    {
        for (const MemoryNode& n : machine_.nodes) {
            line("\n[[nodes]]\nname = {}\nbytes = {}\nhost = {}\nbandwidth = {}\npackage_w = {}\nmemory_w = {}", quoted(n.name),
                 whole_or_exact(n.bytes), n.host, whole_or_exact(n.bandwidth), n.package_w, n.memory_w);
            if (n.package >= 0) line("package = {}", n.package);
        }
        for (const Cache& c : machine_.caches)
            line("\n[[caches]]\nlevel = {}\nbytes = {}\ncores = [{}]", c.level, whole_or_exact(c.bytes),
                 fmt::join(c.cores, ", "));
        for (const Junction& j : machine_.junctions) line("\n[[junctions]]\nname = {}", quoted(j.name));
    }

    const Machine& machine_;
    std::string out_;
};

} // namespace

std::string machine_to_toml(const Machine& machine) { return TomlWriter(machine).text(); }

} // namespace trencadis
