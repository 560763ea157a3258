#include "observe/arrows.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace trencadis {
namespace {

/// Who runs what, by the task's order and when it begins; orders of two calls may be the same.
using Tasks = std::map<std::pair<std::uint64_t, std::int64_t>, WorkerId>;

Tasks first_pieces(const Trace& trace)
{
    Tasks tasks;
    for (const WorkerTrace& worker : trace.workers)
        for (const Event& event : worker.events)
            if (event.kind == EventKind::task && !event.continued)
                tasks.emplace(std::pair(event.order, event.begin_ns), worker.worker);
    return tasks;
}

} // namespace

std::vector<Arrow> arrows_of(const Trace& trace)
{
    std::vector<Arrow> arrows;
    if (std::none_of(trace.workers.begin(), trace.workers.end(), [](const WorkerTrace& worker) { return worker.queue; }))
        return arrows;
    const Tasks tasks = first_pieces(trace);
    for (const WorkerTrace& row : trace.workers)
        for (const Event& event : row.events) {
            if (event.kind != EventKind::copy || !event.awaited) continue;
            const auto task = tasks.lower_bound({event.order, event.end_ns});
            if (task == tasks.end() || task->first.first != event.order) continue;
            arrows.push_back({row.worker, task->second, event.begin_ns, task->first.second, event.flops});
        }
    return arrows;
}

} // namespace trencadis
