#include "choices/call_graph.hpp"

#include "choices/names_context.hpp"
#include "graph/unit.hpp"

#include <algorithm>

namespace trencadis::choices {
namespace {

/// Such accesses follow one another. `commute` may turn, one at a time; here it does not.
bool is_held_together(AccessMode mode) { return is_shared(mode) && mode != AccessMode::commute; }

} // namespace

/// Who uses a part of a datum has the whole of it brought, as large as it was ever said to be.
void CallGraph::note_use(Task task, const Access& access, History& datum)
{
    datum.bytes = std::max(datum.bytes, access.datum.bytes());
    if (!(datum.bytes > 0)) return;
    const bool writes = is_writing(access.mode);
    if (std::exchange(datum.user, task) == task) {
        uses_[datum.use].writes |= writes;
        return;
    }
    datum.use = uses_.size();
    uses_.push_back({datum.bytes, writes});
    tasks_[std::size_t(task)].used += datum.bytes;
    ++tasks_[std::size_t(task)].uses;
}

CallGraph::Task CallGraph::add(const Weight& weight)
{
    tasks_.push_back(weight);
    return Task(tasks_.size()) - 1;
}

void CallGraph::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const TaskOptions&)
{
    if (!is_whole()) return;
    const Task task = add({.codelet = &codelet,
                           .flops = codelet.flops && !codelet.submits ? codelet.flops(arguments.data) : 0,
                           .chunks = codelet.submits ? 1 : ComputeUnit().chunks(codelet, arguments.data),
                           .first_use = uses_.size()});
    if (levels_.back().begin >= 0) wait_for({levels_.back().begin, 0}, task);
    for (const Access& access : accesses) {
        History& history = levels_.back().data[access.datum.address];
        note_use(task, access, history);
        if (!is_held_together(access.mode) || access.mode != history.mode) {
            history.before.swap(history.group);
            history.group.clear();
            history.mode = access.mode;
        }
        for (const Holder& before : history.before) wait_for(before, task);
    }
    const Task end = codelet.submits ? submit_inside(task, codelet, arguments.data, accesses) : task;
    for (int i = 0; i < int(accesses.size()); ++i)
        levels_.back().data[accesses[std::size_t(i)].datum.address].group.push_back({end, i});
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
    for (Task inside = begin; inside < end; ++inside) wait_for({inside, 0}, end);
    return end;
}

void CallGraph::close()
{
    first_.assign(tasks_.size() + 1, 0);
    for (const Edge& edge : edges_) {
        ++first_[std::size_t(edge.before.task) + 1];
        ++tasks_[std::size_t(edge.after)].all;
    }
    for (std::size_t task = 0; task < tasks_.size(); ++task) first_[task + 1] += first_[task];
    std::vector<Holder> waiting(edges_.size()); // by what they wait for, with the operand through which
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (auto edge = edges_.rbegin(); edge != edges_.rend(); ++edge) // the last submitted first
        waiting[next[std::size_t(edge->before.task)]++] = {edge->after, edge->before.operand};
    edges_ = {};
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
        const auto its = std::span(waiting).subspan(first_[task], first_[task + 1] - first_[task]);
        if (!std::ranges::is_sorted(its, {}, &Holder::operand)) std::ranges::stable_sort(its, {}, &Holder::operand);
    }
    after_.reserve(waiting.size());
    for (const Holder& one : waiting) after_.push_back(one.task);
}

std::span<const CallGraph::Task> CallGraph::after(Task task) const
{
    const std::size_t begin = first_[std::size_t(task)];
    return std::span(after_).subspan(begin, first_[std::size_t(task) + 1] - begin);
}

} // namespace trencadis::choices
