#include "observe/summary.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <nlohmann/json.hpp>

namespace trencadis {

namespace {

struct Tally {
    std::int64_t calls = 0;
    std::int64_t core_ns = 0; ///< with shares
    std::int64_t call_ns = 0; ///< without
    Flops flops = 0;
    struct Kind {
        std::int64_t calls = 0;
        std::int64_t call_ns = 0;
    };
    std::map<std::string, Kind> on_kinds;
};

double mean_ms(std::int64_t total_ns, std::int64_t calls) { return calls ? double(total_ns) / double(calls) * 1e-6 : 0; }

WorkerSummary summarise_worker(const WorkerTrace& worker, std::int64_t span_ns)
{
    WorkerSummary row{worker.worker, worker.cpu, worker.kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, worker.queue};
    std::int64_t task_ns = 0, share_ns = 0, idle_ns = 0;
    for (const Event& event : worker.events) {
        const std::int64_t length = event.end_ns - event.begin_ns;
        switch (event.kind) {
        case EventKind::task:
            task_ns += length;
            row.tasks += !event.continued;
            break;
        case EventKind::share:
            share_ns += length;
            row.shares += !event.continued;
            break;
        case EventKind::idle: idle_ns += length; break;
        case EventKind::copy: task_ns += length; break;
        }
    }
    if (worker.events.empty()) idle_ns = span_ns;
    else idle_ns += worker.events.front().begin_ns + std::max<std::int64_t>(span_ns - worker.events.back().end_ns, 0);
    const std::int64_t runtime_ns = std::max<std::int64_t>(span_ns - task_ns - share_ns - idle_ns, 0);
    row.busy_s = double(task_ns + share_ns) * 1e-9;
    row.share_s = double(share_ns) * 1e-9;
    row.idle_s = double(idle_ns) * 1e-9;
    row.runtime_s = double(runtime_ns) * 1e-9;
    if (span_ns > 0) {
        const double span = double(span_ns);
        row.busy_fraction = double(task_ns + share_ns) / span;
        row.share_fraction = double(share_ns) / span;
        row.idle_fraction = double(idle_ns) / span;
        row.runtime_fraction = double(runtime_ns) / span;
    }
    return row;
}

void tally_worker(const WorkerTrace& worker, std::map<std::string_view, Tally>& tallies)
{
    for (const Event& event : worker.events) {
        if (event.kind == EventKind::idle || event.kind == EventKind::copy) continue;
        const std::int64_t length = event.end_ns - event.begin_ns;
        Tally& tally = tallies[event.name];
        tally.core_ns += length;
        tally.flops += event.flops;
        if (event.kind == EventKind::share) continue;
        tally.calls += !event.continued;
        tally.call_ns += length;
        Tally::Kind& kind = tally.on_kinds[worker.kind];
        kind.calls += !event.continued;
        kind.call_ns += length;
    }
}

Seconds first_to_last(const Trace& trace)
{
    std::int64_t begin = trace.span_ns, end = 0;
    for (const WorkerTrace& worker : trace.workers)
        for (const Event& event : worker.events) {
            if (event.kind == EventKind::idle) continue;
            begin = std::min(begin, event.begin_ns);
            end = std::max(end, event.end_ns);
        }
    return double(std::max<std::int64_t>(end - begin, 0)) * 1e-9;
}

KernelSummary kernel_row(std::string_view name, const Tally& tally)
{
    const double gflops = tally.core_ns > 0 ? tally.flops / double(tally.core_ns) : 0;
    KernelSummary row{
        std::string(name), tally.calls, double(tally.core_ns) * 1e-9, mean_ms(tally.call_ns, tally.calls), gflops, {}};
    for (const auto& [kind, part] : tally.on_kinds) row.on_kinds.push_back({kind, part.calls, mean_ms(part.call_ns, part.calls)});
    return row;
}

nlohmann::ordered_json to_object(const WorkerSummary& row)
{
    return {{"worker", row.worker},
            {"cpu", row.cpu},
            {"kind", row.kind},
            {"tasks", row.tasks},
            {"shares", row.shares},
            {"busy_s", row.busy_s},
            {"share_s", row.share_s},
            {"idle_s", row.idle_s},
            {"runtime_s", row.runtime_s},
            {"busy_fraction", row.busy_fraction},
            {"share_fraction", row.share_fraction},
            {"idle_fraction", row.idle_fraction},
            {"runtime_fraction", row.runtime_fraction},
            {"queue", row.queue}};
}

nlohmann::ordered_json to_object(const KernelSummary& row)
{
    auto kinds = nlohmann::ordered_json::array();
    for (const KernelOnKind& kind : row.on_kinds)
        kinds.push_back({{"kind", kind.kind}, {"calls", kind.calls}, {"mean_ms", kind.mean_ms}});
    return {{"name", row.name},       {"calls", row.calls},   {"total_s", row.total_s},
            {"mean_ms", row.mean_ms}, {"gflops", row.gflops}, {"on_kinds", kinds}};
}

} // namespace

const char* origin_name(Origin origin)
{
    switch (origin) {
    case Origin::measured: return "measured";
    case Origin::emulated: return "emulated";
    case Origin::simulated: return "simulated";
    }
    return "unknown";
}

Summary summarise(const Trace& trace)
{
    Summary summary{trace.title, trace.origin, double(trace.span_ns) * 1e-9, first_to_last(trace), trace.lost, {}, {}};
    std::map<std::string_view, Tally> tallies;
    for (const WorkerTrace& worker : trace.workers) {
        summary.workers.push_back(summarise_worker(worker, trace.span_ns));
        tally_worker(worker, tallies);
    }
    for (const auto& [name, tally] : tallies) summary.kernels.push_back(kernel_row(name, tally));
    std::stable_sort(summary.kernels.begin(), summary.kernels.end(),
                     [](const KernelSummary& a, const KernelSummary& b) { return a.total_s > b.total_s; });
    return summary;
}

std::string to_json(const Summary& summary)
{
    nlohmann::ordered_json object{{"title", summary.title},
                                  {"origin", origin_name(summary.origin)},
                                  {"span_s", summary.span_s},
                                  {"working_s", summary.working_s},
                                  {"lost", summary.lost}};
    object["workers"] = nlohmann::ordered_json::array();
    object["kernels"] = nlohmann::ordered_json::array();
    for (const WorkerSummary& row : summary.workers) object["workers"].push_back(to_object(row));
    for (const KernelSummary& row : summary.kernels) object["kernels"].push_back(to_object(row));
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace trencadis
