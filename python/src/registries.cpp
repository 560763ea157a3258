#include "bind.hpp"
#include "call.hpp"
#include "devices/backend.hpp"
#include "drivers/linear_algebra.hpp"
#include "engines/engine.hpp"
#include "graph/flow_options.hpp"
#include "kernels/providers/native_blocks.hpp"
#include "kernels/providers/provider.hpp"
#include "machine/machine.hpp"
#include "routines.hpp"
#include "scheduling/scheduler.hpp"
#include "session/device_survey.hpp"
#include "session/kept_figures.hpp"
#include "simulation/graph_survey.hpp"
#include "text.hpp"
#include "threads/threads.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace trencadis::python {
namespace {

nb::dict row_of(const Entry& entry)
{
    nb::dict row;
    row["name"] = entry.name;
    row["available"] = true;
    row["summary"] = entry.summary;
    row["source"] = entry.source;
    return row;
}

/// For registries whose entries are part of the build and therefore always available.
nb::dict row_of(const Parameter& parameter)
{
    nb::dict row;
    row["name"] = parameter.name;
    row["values"] = parameter.values;
    row["standard"] = parameter.standard;
    row["summary"] = parameter.summary;
    return row;
}

/// The keys that every policy knows, with what this one does when they are not given.
nb::list common_options(const FlowTraits& flow)
{
    std::string throttle = flow.throttle              ? std::to_string(flow.throttle)
                           : flow.throttle_per_worker ? std::to_string(flow.throttle_per_worker) + "x"
                                                      : "none";
    if (flow.throttle_ready) throttle += "-ready";
    const std::string dependences = flow.discovery == Discovery::at_steal ? "at-steal"
                                    : flow.buckets                        ? "fixed-" + std::to_string(flow.buckets)
                                                                          : "resizable";
    nb::list rows;
    rows.append(row_of({"throttle", "none|N|Nx|Nx-ready", throttle.c_str(),
                        "past N pending (ready) tasks (per worker) a task is run by whoever submits it"}));
    rows.append(row_of({"dependences", "resizable|fixed-N|at-steal", dependences.c_str(),
                        "table from data to their last tasks: growing, of N lists, or filled when a worker looks for work"}));
    rows.append(row_of({"release", "newest|oldest", flow.release_oldest ? "oldest" : "newest",
                        "of the tasks that wait for one datum: the last or the first submitted is ready first"}));
    return rows;
}

nb::list scheduler_rows()
{
    nb::list rows;
    for (const SchedulerEntry* entry : scheduler_entries()) {
        nb::dict row = row_of(*entry);
        nb::list options;
        for (const Parameter& parameter : entry->parameters) options.append(row_of(parameter));
        options.extend(common_options(entry->flow));
        row["options"] = options;
        row["in_one_memory"] = entry->in_one_memory ? nb::object(nb::str(entry->in_one_memory)) : nb::object(nb::none());
        rows.append(row);
    }
    return rows;
}

/// Says why it cannot be made here, if so.
template <class E> void note_absence(nb::dict& row, const E& entry)
{
    if (!entry.why_not) return;
    const std::string reason = compute([&] { return entry.why_not(); });
    if (reason.empty()) return;
    row["available"] = false;
    row["why_not"] = text_of(reason);
}

nb::list engine_rows()
{
    nb::list rows;
    for (const EngineEntry* entry : engine_entries()) {
        nb::dict row = row_of(*entry);
        const Capabilities& able = entry->capabilities;
        const std::pair<const char*, bool> answers[] = {
            {"parallel", able.parallel}, {"malleable", able.malleable},       {"emulates_slow", able.emulates_slow},
            {"computes", able.computes}, {"priorities", able.priorities},     {"schedules_itself", able.schedules_itself},
            {"commute", able.commute},   {"reduction", able.reduction},       {"concurrent_write", able.concurrent_write},
            {"nesting", able.nesting},   {"cancellation", able.cancellation}, {"owners", able.owners},
            {"devices", able.devices}};
        for (const auto& [name, answer] : answers) row[name] = answer;
        note_absence(row, *entry);
        rows.append(row);
    }
    return rows;
}

nb::list thread_rows()
{
    nb::list rows;
    for (const ThreadsEntry* entry : threads_entries()) {
        nb::dict row = row_of(*entry);
        note_absence(row, *entry);
        rows.append(row);
    }
    return rows;
}

nb::list kernel_rows()
{
    nb::list rows;
    for (const KernelProviderEntry* entry : kernel_provider_entries()) {
        const KernelStatus status = compute([&] { return kernel_status(*entry); });
        nb::dict row = row_of(*entry);
        row["available"] = status.available;
        if (status.available) {
            row["version"] = status.version;
            row["path"] = path_of(status.path);
        } else {
            row["why_not"] = text_of(status.reason);
        }
        rows.append(row);
    }
    return rows;
}

nb::list machine_rows()
{
    nb::list rows;
    for (const std::string& name : described_machines()) {
        nb::dict row;
        row["name"] = path_of(name);
        try {
            const Machine machine = load_machine(name);
            require_known_kernels(machine);
            row["available"] = true;
            row["summary"] = machine.summary;
            row["source"] = path_of(machine.origin);
            row["cores"] = machine.cores.size();
            row["devices"] = machine.devices.size();
            row["simulates"] = !machine.kernels.empty();
        } catch (const Error& error) {
            row["available"] = false;
            row["summary"] = "";
            row["why_not"] = text_of(error.what());
        }
        rows.append(row);
    }
    return rows;
}

nb::list block_rows(const std::string& machine)
{
    const auto blocks = compute([&] { return native_blocks(machine.empty() ? machine_at_hand() : load_machine(machine)); });
    nb::list rows;
    for (const NativeBlocks& block : blocks) {
        nb::dict row;
        row["precision"] = std::string(1, block.precision);
        row["kind"] = block.kind;
        row["mr"] = block.mr;
        row["nr"] = block.nr;
        row["kc"] = block.kc;
        row["mc"] = block.mc;
        row["nc"] = block.nc;
        rows.append(row);
    }
    return rows;
}

std::string name_message(std::string_view what, std::string_view given, const std::vector<std::string>& known)
{
    return unknown_name(what, given, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string this_machine(bool measure, bool fresh)
{
    return compute([&] {
        Machine machine = discover_machine();
        if (measure) measure_speed(machine, fresh);
        return machine_to_json(machine);
    });
}

nb::list backend_rows()
{
    nb::list rows;
    for (const DeviceBackend* entry : device_entries()) {
        nb::dict row = row_of(*entry);
        note_absence(row, *entry);
        rows.append(row);
    }
    return rows;
}

/// Those that the words name, measured; without words those that are there.
nb::list device_rows(const std::string& words)
{
    const auto reports =
        compute([&] { return words.empty() ? devices_here() : figures_anew(words, load_kernels("native")).devices; });
    nb::list rows;
    for (const DeviceReport& device : reports) {
        nb::dict row;
        row["name"] = device.name;
        row["kind"] = device.backend;
        row["bytes"] = device.bytes;
        row["emulated"] = device.emulated;
        if (device.flops_per_second > 0) {
            row["gflops"] = device.flops_per_second * 1e-9;
            row["bandwidth_to"] = device.bytes_per_second[0];
            row["bandwidth_from"] = device.bytes_per_second[1];
        }
        rows.append(row);
    }
    return rows;
}

} // namespace

void bind_registries(nb::module_& m)
{
    using namespace nb::literals;
    m.def("list_schedulers", &scheduler_rows);
    m.def("list_engines", &engine_rows);
    m.def("list_threads", &thread_rows);
    m.def("list_kernels", &kernel_rows);
    m.def("list_machines", &machine_rows);
    m.def("list_routines", &routine_rows);
    m.def("list_devices", &backend_rows);
    m.def("devices", &device_rows, "words"_a = "");
    m.def("default_tile", &default_tile, "routine"_a, "variant"_a, "n"_a, "element_bytes"_a, "workers"_a, "device_bytes"_a = 0.0);
    m.def("machine", &this_machine, "measure"_a = true, "fresh"_a = false);
    m.def(
        "load_machine",
        [](const std::string& name) {
            const Machine machine = load_machine(name);
            require_known_kernels(machine);
            return machine_to_json(machine);
        },
        "name_or_path"_a);
    m.def("native_blocks", &block_rows, "machine"_a = "");
    m.def("unknown_name", &name_message, "what"_a, "given"_a, "known"_a);
    m.def("described_machines", &described_machines);
    m.def("add_kernel_library_folder", &add_kernel_library_folder, "folder"_a);
}

} // namespace trencadis::python
