#include "choices/machine_choice.hpp"

#include "algorithms/graphs.hpp"
#include "algorithms/routines.hpp"
#include "machine/kernel_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr std::size_t most_tasks = 500'000; ///< some hundred megabytes, and half a second for each such plan

/// The kernel that a routine is as a whole.
struct Whole {
    std::string_view routine, kernel;
};
constexpr Whole wholes[] = {{"potrf", "potrf"}, {"getrf", "getrf"}, {"geqrf", "geqrt"}, {"gemm", "gemm"}};

DescribedCores first_cores(const DescribedCores& units, int count)
{
    DescribedCores some = units;
    some.cores.resize(std::size_t(count));
    return some;
}

std::size_t nodes_of(const DescribedCores& units, int count)
{
    std::set<int> nodes;
    for (int i = 0; i < count; ++i) nodes.insert(units.machine->cores[std::size_t(units.cores[std::size_t(i)])].node);
    return nodes.size();
}

Plan first_form_of(const Call& call)
{
    for (const Plan& plan : plans_for(call, 1, is_ours_elsewhere(call), Breadth::all))
        if (plan.by == Plan::By::tasks && plan.step == 0) return plan;
    return {};
}

Seconds by_caller(const Call& call, const DescribedCores& units)
{
    if (call.k == 0 && call.m != call.n) {
        DescribedCores alone = first_cores(units, 1);
        alone.submit = alone.take = 0;
        return foreseen_of(first_form_of(call), call, alone);
    }
    const Machine& machine = *units.machine;
    const Core& core = machine.cores[std::size_t(units.cores.front())];
    const std::string_view kernel = std::ranges::find(wholes, call.routine, &Whole::routine)->kernel;
    const KernelTime* const time =
        find_kernel(machine, kernel, machine.kinds[std::size_t(core.kind)].name, precision_letters[std::size_t(call.precision)]);
    return time ? time->time(flops_of(call)) : never;
}

GraphShape shape_of(const Laid& laid, const Call& call, int workers)
{
    return {.n = call.n,
            .nb = laid.nb,
            .m = call.m == call.n ? 0 : call.m,
            .precision = precision_letters[std::size_t(call.precision)],
            .workers = laid.cut_for ? laid.cut_for : workers,
            .k = call.k};
}

/// Rows of one number of cores. What comes to the same is foreseen once.
class Foreseen {
public:
    /// `best`: of what is known already.
    Foreseen(const Call& call, const DescribedCores& units, Seconds best) : call_(call), units_(units), best_(best) {}

    std::vector<Row> rows()
    {
        const int workers = int(units_.cores.size());
        std::vector<Plan> plans = plans_for(call_, workers, is_ours_elsewhere(call_), Breadth::all);
        // From wide tiles, which are few tasks, to narrow ones.
        std::ranges::stable_sort(plans.begin() + 1, plans.end(), {}, [](const Plan& plan) { return -plan.step; });
        std::vector<Row> rows;
        for (const Plan& plan : plans) {
            const Seconds seconds = time(plan);
            if (seconds < never)
                rows.push_back({std::string(call_.routine), precision_letters[std::size_t(call_.precision)], call_.m, call_.n,
                                call_.k, workers, word_of(plan), seconds});
        }
        return rows;
    }

private:
    Seconds time(const Plan& plan)
    {
        const int workers = int(units_.cores.size());
        const Laid laid = laid_elsewhere(plan, call_, workers);
        const auto [known, fresh] = known_.try_emplace({laid.form, laid.nb, laid.cut_for}, never);
        // Of the rule it has to be known, and of the others what they are where they are not much worse.
        constexpr double much_worse = 1.5;
        const Seconds most = plan.by == Plan::By::rule ? never : much_worse * best_;
        if (fresh) known->second = foreseen_of(plan, call_, units_, most);
        best_ = std::min(best_, known->second);
        return known->second;
    }

    const Call& call_;
    const DescribedCores& units_;
    std::map<std::tuple<const Form*, Index, int>, Seconds> known_;
    Seconds best_;
};

} // namespace

bool is_ours_elsewhere(const Call& call) { return call.k == 0; }

Laid laid_elsewhere(const Plan& plan, const Call& call, int workers)
{
    const Plan taken = plan.by == Plan::By::rule ? plan_of_rule(call, workers, is_ours_elsewhere(call)) : plan;
    if (taken.by == Plan::By::caller) return {nullptr, 0, 0};
    const Tiles tiles = tiles_of(taken, call, workers);
    if (tiles.nb || tiles.grain) return {taken.form, tiles.nb, tiles.grain};
    return {taken.form, default_graph_tile(*taken.form, call.n, element_bytes(call.precision), workers), 0};
}

Seconds foreseen_of(const Plan& plan, const Call& call, const DescribedCores& units, Seconds most)
{
    const int workers = int(units.cores.size());
    const Plan taken = plan.by == Plan::By::rule ? plan_of_rule(call, workers, is_ours_elsewhere(call)) : plan;
    if (taken.by == Plan::By::caller) return by_caller(call, units);
    if (!taken.form->has_graph()) return never;
    const double in_time = units.submit > 0 ? std::ceil(most / units.submit) : double(most_tasks);
    CallGraph graph(std::size_t(std::min(in_time, double(most_tasks))));
    alignas(64) static constexpr char names[64] = {};
    submit_graph(graph, call.routine, taken.form->name, shape_of(laid_elsewhere(taken, call, workers), call, workers),
                 const_cast<char*>(names));
    if (!graph.is_whole()) return never;
    graph.close();
    return foreseen_time(graph, units, most);
}

std::vector<ByCores> consider_elsewhere(const Call& call, const DescribedCores& units)
{
    constexpr double worth_it = 0.975; // as of plans
    constexpr double much_worse = 1.5; // half as many would be again
    std::vector<ByCores> all;
    Seconds best = never;
    const auto seconds = [](const ByCores& by) { return by.considered.front().seconds; };
    for (int workers = int(units.cores.size()); workers >= 1; workers /= 2) {
        const std::vector<Row> rows = Foreseen(call, first_cores(units, workers), best).rows();
        const Chooser chooser(rows, workers, is_ours_elsewhere(call), Objective::time, Breadth::all);
        all.push_back({workers, chooser.consider(call)});
        if (seconds(all.back()) > much_worse * best) break;
        if (seconds(all.back()) > 0) best = std::min(best, seconds(all.back()));
    }
    const auto cost = [&](const ByCores& by) {
        const bool is_enough = seconds(by) > 0 && seconds(by) * worth_it <= best;
        return std::tuple(!is_enough, nodes_of(units, by.workers), seconds(by));
    };
    const auto chosen = std::ranges::min_element(all, {}, cost);
    chosen->chosen = true;
    std::rotate(all.begin(), chosen, chosen + 1);
    return all;
}

} // namespace trencadis::choices
