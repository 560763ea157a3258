#include "bind.hpp"
#include "call.hpp"
#include "engines/engine.hpp"
#include "kernels/provider.hpp"
#include "machine/machine.hpp"
#include "routines.hpp"
#include "scheduling/scheduler.hpp"
#include "session/linear_algebra.hpp"
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
template <class E> nb::list rows_of(std::span<const E* const> entries)
{
    nb::list rows;
    for (const E* entry : entries) rows.append(row_of(*entry));
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
            row["path"] = status.path;
        } else {
            row["why_not"] = status.reason;
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
        row["name"] = name;
        try {
            const Machine machine = load_machine(name);
            row["available"] = true;
            row["summary"] = machine.summary;
            row["source"] = machine.origin;
            row["cores"] = machine.cores.size();
        } catch (const Error& error) {
            row["available"] = false;
            row["summary"] = "";
            row["why_not"] = error.what();
        }
        rows.append(row);
    }
    return rows;
}

std::string this_machine(bool measure, bool fresh)
{
    return compute([&] {
        Machine machine = discover_machine();
        if (measure) measure_speed(machine, fresh);
        return machine_to_json(machine);
    });
}

} // namespace

void bind_registries(nb::module_& m)
{
    using namespace nb::literals;
    m.def("list_schedulers", [] { return rows_of(scheduler_entries()); });
    m.def("list_engines", [] { return rows_of(engine_entries()); });
    m.def("list_threads", [] { return rows_of(threads_entries()); });
    m.def("list_kernels", &kernel_rows);
    m.def("list_machines", &machine_rows);
    m.def("list_routines", &routine_rows);
    m.def("default_tile", &default_tile, "routine"_a, "n"_a, "element_bytes"_a, "workers"_a);
    m.def("machine", &this_machine, "measure"_a = true, "fresh"_a = false);
    m.def(
        "load_machine", [](const std::string& name) { return machine_to_json(load_machine(name)); }, "name_or_path"_a);
    m.def("described_machines", &described_machines);
    m.def("add_kernel_library_folder", &add_kernel_library_folder, "folder"_a);
}

} // namespace trencadis::python
