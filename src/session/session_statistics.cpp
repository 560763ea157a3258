// What a session tells of its runs: traces, and how much its workers, memory nodes and devices have done.

#include "session/session_parts.hpp"

#include <algorithm>

namespace trencadis {

void Session::start_trace()
{
    {
        std::lock_guard lock(parts_->clock_mutex);
        parts_->choices.clear();
    }
    parts_->tracing = true;
    parts_->engine->recorder().start();
}

Trace Session::stop_trace()
{
    const bool emulated = !parts_->options.slow.empty() || devices::are_emulated(parts_->options.devices) || overlaid();
    Trace trace = parts_->engine->recorder().stop({}, emulated ? Origin::emulated : Origin::measured);
    parts_->tracing = false;
    trace.node_bytes = node_bytes();
    std::lock_guard lock(parts_->clock_mutex);
    for (const auto& [what, calls] : parts_->choices) trace.choices.push_back(calls);
    return trace;
}

bool Session::is_traced() const { return parts_->tracing.load(std::memory_order_relaxed); }

void Session::note_choice(const choices::Call& call, const choices::Plan& plan, int workers, int callers)
{
    if (!is_traced()) return;
    const std::string what = choices::text_of(call), word = choices::word_of(plan);
    std::lock_guard lock(parts_->clock_mutex);
    ChosenPlan& calls = parts_->choices.try_emplace({what, word, workers}, ChosenPlan{what, word, 0, workers}).first->second;
    ++calls.times;
    calls.callers = std::max(calls.callers, callers);
}

void Session::count_node_bytes(bool on) { parts_->counts_node_bytes = on; }
bool Session::was_asked_for_node_bytes() const { return parts_->counts_node_bytes; }
bool Session::counts_node_bytes() const { return parts_->counts_node_bytes || parts_->tracing; }

void Session::add_node_bytes(const std::vector<NodeBytes>& rows)
{
    std::lock_guard lock(parts_->clock_mutex);
    for (const NodeBytes& row : rows) {
        NodeBytes& sum = parts_->node_bytes[row.node];
        sum.node = row.node;
        sum.local_read += row.local_read;
        sum.remote_read += row.remote_read;
        sum.local_written += row.local_written;
        sum.remote_written += row.remote_written;
    }
}

std::vector<NodeBytes> Session::node_bytes() const
{
    std::lock_guard lock(parts_->clock_mutex);
    std::vector<NodeBytes> rows;
    for (const auto& [node, row] : parts_->node_bytes) rows.push_back(row);
    return rows;
}

std::vector<WorkerStatistics> Session::statistics() const
{
    std::lock_guard lock(parts_->clock_mutex);
    const std::vector<WorkerTime> times = parts_->engine->times();
    const double span = (parts_->run_time() - parts_->run_ns_base) * 1e-9;
    const std::vector<WorkerPlace>& places = parts_->places;
    std::vector<WorkerStatistics> statistics;
    for (std::size_t w = 0; w < times.size(); ++w) {
        const WorkerTime& base = parts_->base[w];
        const double busy = (times[w].busy_ns - base.busy_ns) * 1e-9;
        const bool device = w >= places.size();
        const std::string& kind = device ? parts_->devices.name(w - places.size()) : places[w].kind_name;
        statistics.push_back({device ? -1 : places[w].cpu, kind, busy, std::max(0.0, span - busy), times[w].tasks - base.tasks,
                              times[w].shares - base.shares, times[w].reliefs - base.reliefs});
    }
    return statistics;
}

std::vector<DeviceTraffic> Session::device_traffic() const
{
    std::lock_guard lock(parts_->clock_mutex);
    std::vector<DeviceTraffic> rows = parts_->engine->traffic();
    for (std::size_t d = 0; d < rows.size(); ++d) {
        const DeviceTraffic& base = parts_->traffic_base[d];
        rows[d].to -= base.to;
        rows[d].from -= base.from;
        rows[d].hits -= base.hits;
        rows[d].misses -= base.misses;
        rows[d].evictions -= base.evictions;
        rows[d].copying -= base.copying;
        rows[d].computing -= base.computing;
        rows[d].together -= base.together;
        rows[d].across -= base.across;
        rows[d].staged -= base.staged;
    }
    return rows;
}

void Session::reset_statistics()
{
    std::lock_guard lock(parts_->clock_mutex);
    parts_->base = parts_->engine->times();
    parts_->traffic_base = parts_->engine->traffic();
    parts_->run_ns_base = parts_->run_time();
    parts_->node_bytes.clear();
    if (parts_->crew) parts_->crew->forget_forms(); // a session is reset before it has one
}

} // namespace trencadis
