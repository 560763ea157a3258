#include "session/session.hpp"

#include "array.hpp"
#include "base/device_traffic.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/providers/provider.hpp"
#include "machine/machine.hpp"
#include "observe/chrome.hpp"
#include "observe/html.hpp"
#include "observe/paraver.hpp"
#include "observe/summary.hpp"
#include "observe/svg.hpp"

#include <ctime>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

namespace trencadis::python {
namespace {

nb::dict options_of(const Session& session)
{
    const SessionOptions& options = session.options();
    nb::dict d;
    d["engine"] = options.engine;
    d["scheduler"] = options.scheduler;
    d["kernels"] = options.kernels;
    d["threads"] = options.threads;
    d["workers"] = options.workers;
    d["window"] = options.window;
    d["slow"] = options.slow;
    d["machine"] = options.machine;
    d["pages"] = options.pages;
    d["relief"] = options.relief;
    d["devices"] = options.devices;
    d["reproducible"] = options.reproducible;
    d["objective"] = options.objective;
    return d;
}

/// As a call that makes such a session: what is always said, and what is not as usual.
std::string text_of(const Session& session)
{
    const SessionOptions& options = session.options();
    nb::list words;
    const auto say = [&](const char* name, const auto& value) {
        words.append(nb::str("{}={!r}").format(nb::str(name), nb::cast(value)));
    };
    say("engine", options.engine);
    if (!options.scheduler.empty()) say("scheduler", options.scheduler);
    say("kernels", options.kernels);
    say("threads", options.threads);
    say("workers", options.workers);
    if (!options.slow.empty()) say("slow", options.slow);
    if (!options.machine.empty()) say("machine", options.machine);
    if (!options.devices.empty()) say("devices", options.devices);
    if (options.reproducible) say("reproducible", options.reproducible);
    return nb::cast<std::string>(nb::str("trencadis.session({})").format(nb::str(", ").attr("join")(words)));
}

nb::list statistics_of(const Session& session)
{
    nb::list rows;
    for (const WorkerStatistics& worker : session.statistics()) {
        nb::dict row;
        row["cpu"] = worker.cpu;
        row["kind"] = worker.kind;
        row["busy_s"] = worker.busy;
        row["idle_s"] = worker.idle;
        row["tasks"] = worker.tasks;
        row["shares"] = worker.shares;
        row["reliefs"] = worker.reliefs;
        rows.append(row);
    }
    return rows;
}

nb::list rows_of(const std::vector<NodeBytes>& nodes)
{
    nb::list rows;
    for (const NodeBytes& node : nodes) {
        nb::dict row;
        row["node"] = node.node;
        row["local_read"] = node.local_read;
        row["remote_read"] = node.remote_read;
        row["local_written"] = node.local_written;
        row["remote_written"] = node.remote_written;
        rows.append(row);
    }
    return rows;
}

/// What the devices' workers hold meanwhile, they may hold while one waits for the interpreter lock.
std::vector<DeviceTraffic> unlocked_traffic(const Session& session)
{
    const Unlocked unlocked;
    return session.device_traffic();
}

void reset_statistics(Session& session)
{
    const Unlocked unlocked;
    session.reset_statistics();
}

nb::list rows_of(const std::vector<ChosenPlan>& choices)
{
    nb::list rows;
    for (const ChosenPlan& one : choices) {
        nb::dict row;
        row["call"] = one.call;
        row["plan"] = one.plan;
        row["times"] = one.times;
        row["workers"] = one.workers;
        row["callers"] = one.callers;
        rows.append(row);
    }
    return rows;
}

nb::list traffic_of(const Session& session)
{
    nb::list rows;
    for (const DeviceTraffic& device : unlocked_traffic(session)) {
        nb::dict row;
        row["device"] = device.device;
        row["bytes_to"] = device.to;
        row["bytes_from"] = device.from;
        row["bytes_across"] = device.across;
        row["bytes_staged"] = device.staged;
        row["hits"] = device.hits;
        row["misses"] = device.misses;
        row["evictions"] = device.evictions;
        row["peak_bytes"] = device.peak;
        row["copy_s"] = device.copying;
        row["kernel_s"] = device.computing;
        row["overlap"] = device.overlap();
        row["fault"] = device.fault.empty() ? nb::object(nb::none()) : nb::cast(device.fault);
        rows.append(row);
    }
    return rows;
}

SvgView view_called(std::string_view name)
{
    if (name == "kernel") return SvgView::kernel;
    if (name == "order") return SvgView::creation_order;
    throw Error(ErrorCode::bad_argument, 1, "view '" + std::string(name) + "' is neither 'kernel' nor 'order'");
}

/// A table of the summary, as the JSON writer names its columns.
nb::object table(const Trace& trace, const char* which)
{
    return nb::module_::import_("json").attr("loads")(to_json(summarise(trace)))[which];
}

void bind_trace(nb::module_& m)
{
    nb::class_<Trace>(m, "Trace", "What happened between Session.start_trace and Session.stop_trace.")
        .def_prop_ro("title", [](const Trace& t) { return t.title; })
        .def_prop_ro("origin", [](const Trace& t) { return origin_name(t.origin); })
        .def_prop_ro("span_s", [](const Trace& t) { return static_cast<double>(t.span_ns) * 1e-9; })
        .def_prop_ro("working_s", [](const Trace& t) { return summarise(t).working_s; })
        .def("chrome_json", &to_chrome_json)
        .def(
            "svg", [](const Trace& t, std::string_view view) { return to_svg(t, view_called(view)); }, "view"_a = "kernel")
        .def("html", &to_html)
        .def("paraver",
             [](const Trace& t) {
                 const ParaverTrace files = to_paraver(t, std::time(nullptr));
                 nb::dict d;
                 d[".prv"] = files.prv;
                 d[".pcf"] = files.pcf;
                 d[".row"] = files.row;
                 return d;
             })
        .def("worker_table", [](const Trace& t) { return table(t, "workers"); })
        .def("kernel_table", [](const Trace& t) { return table(t, "kernels"); })
        .def("node_bytes", [](const Trace& t) { return rows_of(t.node_bytes); })
        .def("choices", [](const Trace& t) { return rows_of(t.choices); });
}

Trace stop_trace(Session& session, std::string title)
{
    Trace trace = session.stop_trace();
    if (!title.empty()) trace.title = std::move(title);
    return trace;
}

std::string variant_of(const Session& session, const std::string& routine)
{
    return std::string(default_variant(session, routine));
}

std::pair<std::string, Index> last_variant_of(const Session& session, const std::string& routine)
{
    const TakenVariant last = last_variant(session, routine);
    return {std::string(last.name), last.nb};
}

/// As it lies: a matrix by rows is its transpose by columns.
void keep(Session& session, nb::handle array)
{
    const Buffer buffer = Buffer::require(array.ptr(), Buffer::Access::read, 1, "array");
    const Strided matrix = buffer.matrix();
    const Strided columns = matrix.column_major() ? matrix : matrix.transposed();
    if (!columns.column_major() || columns.empty())
        throw Error(ErrorCode::bad_argument, 1,
                    "array is " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.cols) + " with strides of " +
                        std::to_string(matrix.row_stride) + " and " + std::to_string(matrix.col_stride) +
                        " elements; what is kept on devices has elements, and one of its strides is 1");
    const std::size_t element = with_scalar(buffer.kind(), [](auto scalar) { return sizeof scalar; });
    const Unlocked unlocked;
    session.keep(columns.data, columns.rows, columns.cols, columns.leading(), element);
}

const void* begin_of(nb::handle array) { return Buffer::require(array.ptr(), Buffer::Access::read, 1, "array").matrix().data; }

void touch(Session& session, nb::handle array) { session.touch_kept(begin_of(array)); }
void leave(Session& session, nb::handle array) { session.leave(begin_of(array)); }

/// By NumPy, in a call of ours.
void written(Session& session, std::uintptr_t begin, Bytes bytes)
{
    Crew& crew = session;
    const Unlocked unlocked;
    if (crew.keeps_copies()) crew.will_write(reinterpret_cast<const void*>(begin), bytes); // NOLINT(performance-no-int-to-ptr)
}

nb::object resident(nb::handle session, const nb::args& arrays)
{
    return nb::module_::import_("trencadis.residence").attr("Residence")(session, arrays);
}

nb::object device_array(nb::handle session, nb::handle array, nb::handle device)
{
    return nb::module_::import_("trencadis.device_arrays").attr("device_array")(session, array, device);
}

/// Data that stay on devices from call to call, and arrays that lie there.
void bind_residence(nb::class_<Session>& session)
{
    session
        .def("resident", &resident, "arrays"_a,
             "A block in which copies of the arrays stay on the devices from call to call; see trencadis.residence.")
        .def("device_array", &device_array, "array"_a, "device"_a = 0,
             "A copy of an array on a device of the session; see trencadis.device_arrays.")
        .def("keep", &keep, "array"_a)
        .def("touch", &touch, "array"_a)
        .def("leave", &leave, "array"_a)
        .def("written", &written, "begin"_a, "bytes"_a);
}

void bind_refusal(nb::module_& m)
{
    m.def(
        "refuse_session",
        [](const std::string& engine, std::uintptr_t communicator, const std::string& why) {
            SessionOptions options;
            options.engine = engine;
            options.communicator = reinterpret_cast<const void*>(communicator);
            Session::refuse(options, Error(ErrorCode::bad_argument, why));
        },
        "engine"_a, "communicator"_a, "why"_a, "Said to the processes that make the session together with this one.");
}

} // namespace

void bind_session(nb::module_& m)
{
    bind_trace(m);
    bind_refusal(m);
    nb::class_<Session> session(m, "Session", "Machine, engine, scheduler, kernels and threads under one name each.");
    session
        .def(
            "__init__",
            [](Session* self, std::string engine, std::string scheduler, std::string kernels, std::string threads,
               std::vector<int> workers, int worker_count, std::int64_t window, std::map<int, double> slow, std::string machine,
               std::string pages, std::string relief, std::uintptr_t communicator, std::string devices, bool reproducible,
               std::string objective) {
                compute([&] {
                    new (self) Session(SessionOptions{engine, scheduler, kernels, threads, workers, worker_count, window, slow,
                                                      machine, pages, relief, devices,
                                                      reinterpret_cast<const void*>(communicator), reproducible, objective});
                });
            },
            "engine"_a = "", "scheduler"_a = "", "kernels"_a = "", "threads"_a = "", "workers"_a = std::vector<int>{},
            "worker_count"_a = 0, "window"_a = 0, "slow"_a = std::map<int, double>{}, "machine"_a = "", "pages"_a = "",
            "relief"_a = "", "communicator"_a = 0, "devices"_a = "", "reproducible"_a = false, "objective"_a = "")
        .def("__repr__", &text_of)
        .def("options", &options_of)
        .def_prop_ro("workers", &Session::workers)
        .def_prop_ro("planned_workers", [](Session& s) { return static_cast<Crew&>(s).workers(); })
        .def_prop_ro("device_bytes", &Session::device_bytes)
        .def_prop_ro("runtime", &Session::runtime)
        .def_prop_ro("kernels_version", [](const Session& s) { return s.kernels().version(); })
        .def("default_variant", &variant_of, "routine"_a)
        .def("last_variant", &last_variant_of, "routine"_a)
        .def_prop_ro("machine_name", [](const Session& s) { return s.machine().name; })
        .def("count_node_bytes", &Session::count_node_bytes, "on"_a)
        .def("node_bytes", [](const Session& s) { return rows_of(s.node_bytes()); })
        .def("statistics", &statistics_of)
        .def("device_traffic", &traffic_of)
        .def("reset_statistics", &reset_statistics)
        .def("start_trace", &Session::start_trace)
        .def("stop_trace", &stop_trace, "title"_a = "");
    bind_residence(session);
    m.def(
        "set_num_threads", [](int count) { compute([&] { Session::limit_standard(count); }); }, "count"_a);
    m.def("get_num_threads", [] { return compute([] { return Session::standard_workers(); }); });
    m.def(
        "standard_session", [] { return compute([] { return &Session::standard(); }); }, nb::rv_policy::reference);
}

} // namespace trencadis::python
