#pragma once
#include "choices/call_graph.hpp"
#include "graph/codelet_name.hpp"
#include "machine/kernel_times.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <unordered_map>
#include <vector>

namespace trencadis::choices {

/// Times of tasks by the kind of a core, as a machine's description has them.
class DescribedTimes {
public:
    explicit DescribedTimes(const Machine& machine) : machine_(machine) {}

    /// Infinite where the machine tells none.
    Seconds of(const CallGraph::Weight& task, int kind)
    {
        if (!task.codelet || !task.codelet->flops || task.codelet->submits) return 0;
        const auto [place, fresh] = known_.try_emplace(task.codelet);
        if (fresh)
            for (const CoreKind& one : machine_.kinds)
                place->second.push_back(find_kernel(machine_, {unique_name(*task.codelet), task.codelet->precision, one.name}));
        const KernelTime* const time = place->second[std::size_t(kind)];
        return time ? time->time(task.flops) : std::numeric_limits<Seconds>::infinity();
    }

private:
    const Machine& machine_;
    std::unordered_map<const Codelet*, std::vector<const KernelTime*>> known_;
};

/// From each task to the end, by way of what waits for it longest, on the best of the kinds; infinite where one cannot be done.
inline std::vector<Seconds> ways_to_the_end(const CallGraph& graph, DescribedTimes& times, const std::set<int>& kinds)
{
    std::vector<Seconds> ranks(graph.tasks().size(), 0);
    for (std::size_t task = ranks.size(); task-- > 0;) { // what a task waits for has a smaller number
        for (const CallGraph::Task after : graph.after(CallGraph::Task(task)))
            ranks[task] = std::max(ranks[task], ranks[std::size_t(after)]);
        Seconds best = std::numeric_limits<Seconds>::infinity();
        for (const int kind : kinds) best = std::min(best, times.of(graph.tasks()[task], kind));
        ranks[task] += best;
    }
    return ranks;
}

/// A factor from 1 - spread to 1 + spread, by chance, the same for the same draw.
inline double factor_by_chance(CallGraph::Task task, std::uint64_t draw, double spread)
{
    if (spread <= 0) return 1;
    std::uint64_t bits = (std::uint64_t(task) + 1) * 0x9e3779b97f4a7c15u ^ draw * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return 1 + spread * (2 * double(bits >> 11) * 0x1p-53 - 1);
}

} // namespace trencadis::choices
