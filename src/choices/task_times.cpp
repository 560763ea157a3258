#include "choices/task_times.hpp"

#include "graph/codelet_name.hpp"
#include "machine/kernel_times.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace trencadis::choices {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

bool takes_time(const Codelet* codelet) { return codelet && codelet->flops && !codelet->submits; }

} // namespace

TaskTimes::TaskTimes(const CallGraph& graph, const Machine& machine, std::span<const int> cores)
{
    std::vector<int> kinds;
    for (const int core : cores) {
        const int kind = machine.cores[std::size_t(core)].kind;
        const auto known = std::ranges::find(kinds, kind);
        types_.push_back(int(known - kinds.begin()));
        if (known == kinds.end()) kinds.push_back(kind);
    }
    kinds_ = kinds.size();
    std::unordered_map<const Codelet*, std::vector<const KernelTime*>> known;
    for (const CallGraph::Weight& task : graph.tasks()) {
        best_.push_back(takes_time(task.codelet) ? never : 0);
        if (!takes_time(task.codelet)) {
            times_.insert(times_.end(), kinds_, 0);
            continue;
        }
        const auto [place, fresh] = known.try_emplace(task.codelet);
        if (fresh)
            for (const int kind : kinds)
                place->second.push_back(find_kernel(
                    machine, {unique_name(*task.codelet), task.codelet->precision, machine.kinds[std::size_t(kind)].name}));
        for (const KernelTime* const time : place->second) {
            times_.push_back(time ? time->time(task.flops) : never);
            best_.back() = std::min(best_.back(), times_.back());
        }
    }
}

} // namespace trencadis::choices
