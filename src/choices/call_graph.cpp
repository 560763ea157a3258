#include "choices/call_graph.hpp"

#include "choices/names_context.hpp"
#include "graph/unit.hpp"

namespace trencadis::choices {
namespace {

/// Such accesses follow one another. `commute` may turn, one at a time; here it does not.
bool is_held_together(AccessMode mode) { return is_shared(mode) && mode != AccessMode::commute; }

CallGraph::Weight weight_of(const Codelet& codelet, void* args, std::span<const Access> accesses)
{
    CallGraph::Weight weight{.codelet = &codelet};
    weight.flops = codelet.flops && !codelet.submits ? codelet.flops(args) : 0;
    weight.chunks = codelet.submits ? 1 : ComputeUnit().chunks(codelet, args);
    for (const Access& access : accesses) {
        const Bytes bytes = access.datum.bytes();
        weight.used += bytes;
        if (is_writing(access.mode)) weight.written += bytes;
        weight.uses += bytes > 0;
    }
    return weight;
}

} // namespace

CallGraph::Task CallGraph::add(const Weight& weight)
{
    tasks_.push_back(weight);
    return Task(tasks_.size()) - 1;
}

void CallGraph::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const TaskOptions&)
{
    if (!is_whole()) return;
    const Task task = add(weight_of(codelet, arguments.data, accesses));
    if (levels_.back().begin >= 0) wait_for(levels_.back().begin, task);
    for (const Access& access : accesses) {
        History& history = levels_.back().data[access.datum.address];
        if (!is_held_together(access.mode) || access.mode != history.mode) {
            history.before = std::exchange(history.group, {});
            history.mode = access.mode;
        }
        for (const Task before : history.before) wait_for(before, task);
    }
    const Task end = codelet.submits ? submit_inside(task, codelet, arguments.data, accesses) : task;
    for (const Access& access : accesses) levels_.back().data[access.datum.address].group.push_back(end);
}

CallGraph::Task CallGraph::submit_inside(Task begin, const Codelet& codelet, void* args, std::span<const Access> accesses)
{
    levels_.push_back({begin, {}});
    SharedWork work;
    Team team(work);
    NamesContext context(team, accesses, *this);
    codelet.core(args, context);
    levels_.pop_back();
    const Task end = add({});
    for (Task inside = begin; inside < end; ++inside) wait_for(inside, end);
    return end;
}

void CallGraph::close()
{
    first_.assign(tasks_.size() + 1, 0);
    for (const auto& [before, after] : edges_) {
        ++first_[std::size_t(before) + 1];
        ++tasks_[std::size_t(after)].all;
    }
    for (std::size_t task = 0; task < tasks_.size(); ++task) first_[task + 1] += first_[task];
    after_.resize(edges_.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const auto& [before, after] : edges_) after_[next[std::size_t(before)]++] = after;
    edges_ = {};
}

std::span<const CallGraph::Task> CallGraph::after(Task task) const
{
    const std::size_t begin = first_[std::size_t(task)];
    return std::span(after_).subspan(begin, first_[std::size_t(task) + 1] - begin);
}

} // namespace trencadis::choices
