#include "simulation/graph_survey.hpp"

#include "algorithms/graphs.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"
#include "graph/codelet_name.hpp"
#include "graph/task_data.hpp"
#include "kernels/providers/routines.hpp"
#include "machine/kernel_times.hpp"
#include "simulation/area_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

bool is_timed(const Task& task) { return task.codelet->flops && !task.codelet->submits; }

/// Teams that the machine has a time for are named "a+b".
bool is_team_with(const std::string& units, const std::string& kind)
{
    return units.find('+') != units.npos && ("+" + units + "+").find("+" + kind + "+") != units.npos;
}

std::vector<std::string_view> known_kernels()
{
    std::vector<std::string_view> known = all_graph_kernels();
    for (const std::string_view name : kernel_routine_names)
        if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    return known;
}

} // namespace

void require_known_kernels(const Machine& machine)
{
    const std::vector<std::string_view> known = known_kernels();
    for (const KernelTime& time : machine.kernels) {
        const std::string_view shown = std::string_view(time.kernel).substr(0, time.kernel.find('.')); // "gemm.packed" is a gemm
        if (std::find(known.begin(), known.end(), shown) != known.end()) continue;
        const std::string& file = machine.origin.empty() ? machine.name : machine.origin;
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{}:{}: {}", file, time.line, unknown_name("kernel", time.kernel, known)));
    }
}

GraphSurvey::GraphSurvey(const Machine& machine, std::span<const int> cores, std::span<const int> devices)
    : machine_(machine), cores_(cores.begin(), cores.end()), devices_(devices.begin(), devices.end())
{
    for (std::size_t kind = 0; kind < machine.kinds.size(); ++kind) {
        const auto count = std::count_if(cores.begin(), cores.end(), [&](int c) { return machine.cores[c].kind == int(kind); });
        if (count) kinds_.push_back({machine.kinds[kind].name, int(count), 0, false});
    }
    for (const int d : devices) kinds_.push_back({machine.devices[d].name, 1, machine.devices[d].bytes, true});
}

void GraphSurvey::ready(Task* chain)
{
    while (chain) {
        Task* task = chain;
        chain = task->next;
        Task* released = take(*task);
        Task** end = &released;
        while (*end) end = &(*end)->next;
        *end = chain;
        chain = released;
    }
}

Task* GraphSurvey::take(Task& task)
{
    const Seconds begin = start_of(task);
    Seconds end = begin;
    std::exception_ptr failure;
    if (task.codelet->counted) ++tasks_;
    if (task.codelet->submits) {
        levels_.push_back({begin, begin, {}});
        try {
            SharedWork work;
            Team team(work);
            TaskFlowContext context(task, team, 0);
            task.codelet->core(task.args, context);
            context.finish_children();
        } catch (...) {
            failure = std::current_exception();
        }
        end = levels_.back().end;
        levels_.pop_back();
    } else if (is_timed(task)) {
        const Class& its = note(task);
        if (std::isfinite(its.best)) end += its.best;
        check_memory(task, its);
    }
    end_at(task, end);
    return task.flow->finish(task, failure);
}

Seconds GraphSurvey::start_of(const Task& task)
{
    Level& level = levels_.back();
    Seconds start = level.begin;
    for_each_datum(task, [&](const TaskDatum& use) {
        History& history = level.data[use.data];
        if (!is_shared(use.mode) || history.mode != use.mode) history.before = history.end;
        history.mode = use.mode;
        start = std::max(start, history.before);
    });
    return start;
}

void GraphSurvey::end_at(const Task& task, Seconds end)
{
    Level& level = levels_.back();
    for_each_datum(task, [&](const TaskDatum& use) {
        if (machine_.network && use.mode == AccessMode::read) return; // perhaps of a copy, for which no writer waits
        History& history = level.data[use.data];
        history.end = std::max(history.end, end);
    });
    level.end = std::max(level.end, end);
}

const GraphSurvey::Class& GraphSurvey::note(const Task& task)
{
    const std::pair key{std::string_view(task.codelet->name), task.flops};
    const auto [place, fresh] = classes_.try_emplace(key);
    if (fresh) {
        place->second = make_class(task);
        if (std::find(kernels_.begin(), kernels_.end(), key.first) == kernels_.end()) kernels_.push_back(key.first);
    }
    ++place->second.count;
    return place->second;
}

GraphSurvey::Class GraphSurvey::make_class(const Task& task)
{
    const std::string_view name = task.codelet->name;
    Class made;
    made.malleable = units().front().chunks(*task.codelet, task.args) > 1;
    made.best = never;
    const KindInUse *some = nullptr, *without = nullptr; // cores that can run it, and cores that cannot
    double cores_together = 0;
    for (const KindInUse& kind : kinds_) {
        const KernelTime* known = find_kernel(machine_, {unique_name(*task.codelet), task.codelet->precision, kind.name});
        Seconds time = known ? known->time(task.flops) : never;
        if (task.flops <= 0) time = known ? 0 : never;
        if (!kind.device) (known ? some : without) = &kind;
        if (!kind.device && time > 0) cores_together += kind.count / time;
        // In a fixed team a kernel that cannot be shared takes the team's time, with the others waiting.
        for (const KernelTime& team : machine_.kernels)
            if (!made.malleable && team.kernel == name && is_team_with(team.on, kind.name))
                time = std::min(time, team.time(task.flops));
        made.on_kind.push_back(time);
        made.best = std::min(made.best, time);
    }
    if (some && without && stays_.empty()) stays_ = fmt::format("{} has no '{}'", without->name, name);
    if (made.malleable && cores_together > 0) made.best = std::min(made.best, 1 / cores_together);
    return made;
}

/// A task that only devices have a time for needs its data in the memory of one.
void GraphSurvey::check_memory(const Task& task, const Class& its)
{
    if (devices_.empty() || !no_memory_.empty()) return;
    Bytes needed = 0, most = 0;
    for_each_datum(task, [&](const TaskDatum& use) { needed += use.bytes; });
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (!std::isfinite(its.on_kind[k])) continue;
        if (!kinds_[k].device || needed <= kinds_[k].memory) return;
        most = std::max(most, kinds_[k].memory);
    }
    if (most > 0)
        no_memory_ =
            fmt::format("task '{}' needs {:.1f} MB at once and runs on devices only, whose memory is {:.1f} MB; choose a smaller "
                        "tile, or add [[kernels]] for '{}' on a core kind",
                        task.label, needed * 1e-6, most * 1e-6, task.codelet->name);
}

void GraphSurvey::check() const
{
    if (!kernels_.empty()) require_kernels(machine_, kernels_, cores_, devices_);
    if (!no_memory_.empty()) throw Error(ErrorCode::bad_argument, machine_.origin + ": " + no_memory_);
}

void GraphSurvey::check_moves() const
{
    if (!stays_.empty())
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{}: with remap threads go to all cores, and {}; add [[kernels]], or name "
                                "workers that leave those cores out",
                                machine_.origin.empty() ? machine_.name : machine_.origin, stays_));
}

Seconds GraphSurvey::area_bound() const
{
    DivisibleWork divisible;
    for (const KindInUse& kind : kinds_) divisible.units.push_back(kind.count);
    for (const auto& [key, its] : classes_) {
        divisible.work.push_back(its.on_kind);
        for (Seconds& time : divisible.work.back()) time *= static_cast<double>(its.count);
    }
    return trencadis::area_bound(divisible);
}

} // namespace trencadis
