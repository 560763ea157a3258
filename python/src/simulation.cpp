#include "simulation/simulation.hpp"

#include "base/registry.hpp"
#include "bind.hpp"
#include "call.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

using namespace nanobind::literals;

namespace trencadis::python {
namespace {

nb::list worker_rows(const SimulationResult& result)
{
    nb::list rows;
    for (const SimulationReport::OfWorker& worker : result.workers) {
        nb::dict row;
        row["name"] = worker.name;
        row["kind"] = worker.kind;
        row["busy_s"] = worker.busy_s;
        row["idle_s"] = worker.idle_s;
        row["idle_fraction"] = result.makespan_s > 0 ? worker.idle_s / result.makespan_s : 0.0;
        row["tasks"] = worker.tasks;
        row["shares"] = worker.shares;
        row["polling_s"] = worker.polling_s;
        row["energy_j"] = worker.joules;
        rows.append(row);
    }
    return rows;
}

nb::list kernel_rows(const SimulationResult& result)
{
    nb::list rows;
    for (const SimulationReport::OfKernel& kernel : result.kernels) {
        nb::dict row;
        row["name"] = kernel.kernel;
        row["kind"] = kernel.kind;
        row["calls"] = kernel.calls;
        row["mean_ms"] = 1e3 * kernel.mean_s();
        row["total_s"] = kernel.total_s;
        row["gflops"] = kernel.total_s > 0 ? kernel.flops / kernel.total_s * 1e-9 : 0.0;
        rows.append(row);
    }
    return rows;
}

nb::list traffic_rows(const SimulationResult& result)
{
    nb::list rows;
    for (const SimulationReport::OfMemories& pair : result.traffic) {
        nb::dict row;
        row["at"] = pair.at;
        row["by"] = pair.by;
        row["read_bytes"] = pair.read_bytes;
        row["written_bytes"] = pair.written_bytes;
        row["copied_bytes"] = pair.copied_bytes;
        rows.append(row);
    }
    return rows;
}

std::string word_of(TileOwners::Rule rule) { return rule == TileOwners::Rule::symmetric ? "symmetric" : "block-cyclic"; }

TileOwners owners_of(int grid_rows, int grid_cols, const std::string& distribution)
{
    const auto side = [](int number) { return static_cast<std::int16_t>(std::clamp(number, -1, 32767)); };
    TileOwners owners{.grid_rows = side(grid_rows), .grid_cols = side(grid_cols)};
    for (const TileOwners::Rule rule : {TileOwners::Rule::block_cyclic, TileOwners::Rule::symmetric})
        if (word_of(rule) == distribution) {
            owners.rule = rule;
            return owners;
        }
    const std::vector<std::string_view> known{"block-cyclic", "symmetric"};
    throw Error(ErrorCode::bad_argument, unknown_name("distribution", distribution, known));
}

/// What hosts have sent each other; nothing of a machine that is one host.
void add_hosts(nb::dict& row, const SimulationResult& result)
{
    if (result.hosts.empty()) return;
    using OfHost = SimulationReport::OfHost;
    const auto largest = [&](auto by) { return *std::ranges::max_element(result.hosts, {}, by); };
    const auto owned = [&](Bytes sum, const OfHost& host) { return sum + host.owned_bytes; };
    row["hosts"] = result.hosts.size();
    row["distribution"] = word_of(result.owners.rule);
    row["grid"] = std::to_string(result.owners.grid_rows) + "x" + std::to_string(result.owners.grid_cols);
    row["messages"] = result.transfers;
    row["bytes_sent"] = result.bytes_moved;
    row["most_messages_of_a_host"] = largest(&OfHost::messages_sent).messages_sent;
    row["most_bytes_of_a_host"] = largest(&OfHost::bytes_sent).bytes_sent;
    row["peak_bytes_of_a_host"] = largest(&OfHost::peak_bytes).peak_bytes;
    row["owned_bytes"] = std::accumulate(result.hosts.begin(), result.hosts.end(), Bytes{0}, owned);
    nb::list hosts;
    for (const OfHost& host : result.hosts) {
        nb::dict one;
        one["messages_sent"] = host.messages_sent;
        one["messages_received"] = host.messages_received;
        one["bytes_sent"] = host.bytes_sent;
        one["bytes_received"] = host.bytes_received;
        one["owned_bytes"] = host.owned_bytes;
        one["peak_bytes"] = host.peak_bytes;
        hosts.append(one);
    }
    row["per_host"] = hosts;
}

nb::dict record_of(const SimulationResult& result)
{
    nb::dict row;
    row["routine"] = result.routine;
    row["n"] = result.n;
    row["m"] = result.m ? nb::cast(result.m) : nb::none();
    row["nb"] = result.nb;
    row["inner"] = result.inner;
    row["precision"] = std::string(1, result.precision);
    row["variant"] = result.variant;
    row["scheduler"] = result.scheduler;
    row["machine"] = result.machine;
    row["model"] = result.model;
    row["makespan_s"] = result.makespan_s;
    row["gflops"] = result.gflops;
    row["bound_gflops"] = result.capacity_gflops;
    row["area_s"] = result.bounds.area_s;
    row["critical_s"] = result.bounds.critical_s;
    row["idle_fraction"] = result.idle_fraction;
    const auto joules = [&](Joules value) { return result.has_energy ? nb::cast(value) : nb::none(); };
    row["energy_j"] = joules(result.energy_j);
    row["cores_j"] = joules(result.cores_j);
    row["package_j"] = joules(result.package_j);
    row["memory_j"] = joules(result.memory_j);
    row["tasks"] = result.tasks;
    row["untimed"] = result.untimed;
    row["bytes_moved"] = result.bytes_moved;
    row["transfers"] = result.transfers;
    row["local_bytes"] = result.local_bytes;
    row["remote_bytes"] = result.remote_bytes;
    row["traffic"] = traffic_rows(result);
    row["per_worker"] = worker_rows(result);
    row["per_kernel"] = kernel_rows(result);
    add_hosts(row, result);
    return row;
}

/// Sets the fields of the options that are given; TypeError for a key that there is none of, which only a mistake of ours can be.
SimulationOptions options_of(const nb::dict& given)
{
    SimulationOptions options;
    for (const auto& [name, value] : given) {
        const std::string key = nb::cast<std::string>(name);
        if (key == "submit_s") options.submit_s = nb::cast<double>(value);
        else if (key == "pop_s") options.pop_s = nb::cast<double>(value);
        else if (key == "central_lock") options.central_lock = nb::cast<bool>(value);
        else if (key == "remap_s") options.remap_s = nb::cast<double>(value);
        else if (key == "jitter") options.jitter = nb::cast<double>(value);
        else if (key == "caller_first") options.caller_first = nb::cast<bool>(value);
        else if (key == "overlap") options.overlap = nb::cast<bool>(value);
        else if (key == "one_stream") options.one_stream = nb::cast<bool>(value);
        else if (key == "peer") options.peer = nb::cast<bool>(value);
        else if (key == "device_only") options.device_only = nb::cast<bool>(value);
        else if (key == "fetch_and_wait") options.fetch_and_wait = nb::cast<bool>(value);
        else if (key == "free_network") options.free_network = nb::cast<bool>(value);
        else if (key == "unadjusted") options.unadjusted = nb::cast<bool>(value);
        else if (key == "spin_s") options.spin_s = nb::cast<double>(value);
        else if (key == "wake_s") options.wake_s = nb::cast<double>(value);
        else if (key == "awake_state") options.awake_state = nb::cast<std::string>(value);
        else if (key == "power_state") options.power_state = nb::cast<std::string>(value);
        else if (key == "copy_operands") options.copy_operands = nb::cast<bool>(value);
        else if (key == "placement") options.placement = nb::cast<std::string>(value);
        else throw nb::type_error(("simulations have no option " + key).c_str());
    }
    return options;
}

nb::tuple bind_simulate(const std::string& machine, const std::string& routine, Index n, Index m, Index tile,
                        const std::string& precision, const std::string& variant, const std::string& scheduler,
                        const std::vector<std::string>& workers, const std::string& model, std::uint64_t seed,
                        const nb::dict& effects, int grid_rows, int grid_cols, const std::string& distribution, bool as_called,
                        Index k, int cut_for, bool trace)
{
    SimulationRequest request;
    request.as_called = as_called;
    request.machine = machine;
    request.routine = routine;
    request.variant = variant;
    request.n = n;
    request.m = m;
    request.k = k;
    request.cut_for = cut_for;
    request.nb = tile;
    request.precision = precision.size() == 1 ? precision[0] : '?';
    request.scheduler = scheduler;
    request.workers = workers;
    request.model = model;
    request.options = options_of(effects);
    request.options.seed = seed;
    request.owners = owners_of(grid_rows, grid_cols, distribution);
    request.trace = trace;
    SimulationResult result = compute([&] { return simulate(request); });
    const nb::dict record = record_of(result);
    return nb::make_tuple(record, nb::cast(std::move(result.trace)));
}

} // namespace

void bind_simulation(nb::module_& m)
{
    m.def(
        "chooses_at_random", [](const std::string& scheduler) { return chooses_at_random(scheduler); }, "scheduler"_a);
    m.def("simulate", &bind_simulate, nb::kw_only(), "machine"_a, "routine"_a, "n"_a, "m"_a = 0, "nb"_a = 0, "precision"_a = "d",
          "variant"_a = "", "scheduler"_a = "", "workers"_a = std::vector<std::string>{}, "model"_a = "", "seed"_a = 1,
          "effects"_a = nb::dict(), "grid_rows"_a = 0, "grid_cols"_a = 0, "distribution"_a = "block-cyclic",
          "as_called"_a = false, "k"_a = 0, "cut_for"_a = 0, "trace"_a = false);
}

} // namespace trencadis::python
