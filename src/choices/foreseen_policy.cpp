#include "choices/foreseen_policy.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

// The counterpart of scheduling/mosaic.cpp, which is in the other wing of the house and has the reasons: what is decided there is
// decided here, so a change there is one here. Left out is what tasks on the cores of one host do not meet: devices, kernels that
// not every unit has, tasks for one node.

namespace trencadis::choices {
namespace {

constexpr double alike = 1.3, much_faster = 4;
constexpr Seconds too_short = 1e-4;

} // namespace

ForeseenPolicy::ForeseenPolicy(const CallGraph& graph, const TaskTimes& times, ForeseenView& view, const LinkTraffic* links,
                               int home, std::span<const int> nodes)
    : graph_(graph), times_(times), view_(view), links_(links), home_(home)
{
    for (int worker = 0; worker < int(nodes.size()); ++worker) {
        const std::size_t place = std::size_t(view.workers[std::size_t(worker)].place);
        if (place == places_.size()) places_.push_back({.node = nodes[std::size_t(worker)]});
        places_[place].workers.push_back(worker);
    }
}

void ForeseenPolicy::push(Task task)
{
    Place& place = places_.size() == 1 ? places_.front() : best_place(task);
    const Seconds cost = graph_.tasks()[std::size_t(task)].flops > 0 ? fastest(place, task) : 0;
    const Ready ready{view_.levels[std::size_t(task)], pushed_++, task, cost};
    place.ready.insert(std::ranges::lower_bound(place.ready, ready, std::less()), ready);
    place.cost += cost;
    ++waiting_;
}

ForeseenPolicy::Decision ForeseenPolicy::pop(int worker)
{
    Place& home = home_of(worker);
    if (!home.ready.empty())
        if (const int critical = join_candidate(worker, home.ready.back().level); critical >= 0) return {.join = critical};
    Decision decision = take(home, worker);
    if (decision.run < 0 && places_.size() > 1) {
        const Decision elsewhere = take_elsewhere(worker);
        if (elsewhere.run >= 0 || decision.again_in == 0) decision = elsewhere;
    }
    if (decision.run < 0) decision.join = join_candidate(worker, -never);
    return decision;
}

// ---- from the worker's own memory ------------------------------------------------------------------------------------------

Seconds ForeseenPolicy::fastest(const Place& place, Task task) const
{
    Seconds best = never;
    for (const int worker : place.workers) best = std::min(best, time(task, worker));
    return best;
}

ForeseenPolicy::Decision ForeseenPolicy::take(Place& place, int worker)
{
    if (place.ready.empty()) return {};
    const auto top = std::prev(place.ready.end());
    if (time(top->task, worker) <= std::max(alike * top->cost, too_short)) return run(place, top);
    return take_as_slow(place, worker);
}

ForeseenPolicy::Decision ForeseenPolicy::run(Place& place, List::iterator which)
{
    const Ready ready = *which;
    place.ready.erase(which);
    place.cost = place.ready.empty() ? 0 : place.cost - ready.cost;
    --waiting_;
    return {.run = ready.task, .offer = place.ready.empty() && place.workers.size() > 1};
}

ForeseenPolicy::Decision ForeseenPolicy::run_as_slow(Place& place, List::iterator which, int worker, const Others& others)
{
    Decision decision = run(place, which);
    const Seconds help_at = others.speed > 0 ? others.first_free + place.cost / others.speed : never;
    decision.offer |= view_.now + time(decision.run, worker) > help_at;
    return decision;
}

ForeseenPolicy::Decision ForeseenPolicy::take_as_slow(Place& place, int worker)
{
    const auto high = std::prev(place.ready.end()), low = place.ready.begin();
    const Others others = look_at_others(place, worker, *high);
    if (ends_sooner_here(*high, worker, others, 0)) return run_as_slow(place, high, worker, others);
    const Seconds before = others.speed > 0 ? (place.cost - low->cost) / others.speed : never;
    if (ends_sooner_here(*low, worker, others, before)) return run_as_slow(place, low, worker, others);
    return {.again_in = std::max(others.first_free - view_.now, 1e-4)};
}

ForeseenPolicy::Others ForeseenPolicy::look_at_others(const Place& place, int worker, const Ready& ready) const
{
    Others others;
    for (const int other : place.workers) {
        if (other == worker) continue;
        const Seconds takes = time(ready.task, other), free_at = view_.workers[std::size_t(other)].free_at(view_.now);
        if (!(free_at < never)) continue;
        others.speed += takes > 0 ? ready.cost / takes : 1;
        if (takes <= alike * ready.cost) others.first_free = std::min(others.first_free, free_at);
    }
    return others;
}

bool ForeseenPolicy::ends_sooner_here(const Ready& ready, int worker, const Others& others, Seconds before) const
{
    const Seconds takes = time(ready.task, worker), help_at = others.first_free + before, there = help_at + ready.cost;
    if (view_.now + takes <= there) return true;
    const Index chunks = graph_.tasks()[std::size_t(ready.task)].chunks;
    if (chunks < 2 || !(there < never) || ready.cost == 0) return false;
    const double rest = 1 - (help_at - view_.now) / takes;
    return help_at + rest / (1 / takes + 1 / ready.cost) + takes / double(chunks) <= there;
}

int ForeseenPolicy::join_candidate(int worker, Seconds above)
{
    int best = -1;
    double most = 0;
    for (const int owner : places_[std::size_t(view_.workers[std::size_t(worker)].place)].workers) {
        const int offer = view_.workers[std::size_t(owner)].offer;
        if (offer < 0 || owner == worker) continue;
        ForeseenOperation& operation = view_.operations[std::size_t(offer)];
        const Index left = operation.left_at(view_.now);
        if (left == 0 || !(view_.levels[std::size_t(operation.task)] > above)) continue;
        const double chunks = double(operation.chunks);
        const Seconds mine = time(operation.task, worker) / chunks, its = time(operation.task, owner) / chunks;
        if (mine > double(left) * its) continue;
        if (const double work = double(left) * its; work > most) most = work, best = offer;
    }
    return best;
}

// ---- several memories ------------------------------------------------------------------------------------------------------

Seconds ForeseenPolicy::from_afar(Task task, const Place& place) const
{
    const CallGraph::Weight& its = graph_.tasks()[std::size_t(task)];
    return links_ && place.node != home_ ? links_->alone(home_, place.node, its.used, its.uses) : 0;
}

/// When the task would end there, with nothing before it, and what that lets go before it in a second.
ForeseenPolicy::End ForeseenPolicy::end_at(const Place& place, Task task) const
{
    Seconds best = never, first_free = never;
    for (const int worker : place.workers) {
        first_free = std::min(first_free, view_.workers[std::size_t(worker)].free_at(view_.now));
        best = std::min(best, time(task, worker));
    }
    double speed = 0;
    for (const int worker : place.workers) speed += best > 0 ? best / time(task, worker) : 1;
    if (!(first_free < never)) first_free = view_.now;
    return {first_free + from_afar(task, place) + best, speed};
}

ForeseenPolicy::Place& ForeseenPolicy::best_place(Task task)
{
    Place* best = &places_.front();
    Seconds soonest = never;
    for (Place& place : places_)
        if (const Seconds end = end_at(place, task).after(place.cost); end < soonest) soonest = end, best = &place;
    const Seconds takes = fastest(*best, task);
    for (Place& place : places_) {
        if (&place == best || !(much_faster * fastest(place, task) < takes)) continue;
        // Behind what ranks above it alone; no further than where it would be too late.
        const Ready ready{view_.levels[std::size_t(task)], pushed_, task, 0};
        const End end = end_at(place, task);
        Seconds before = 0;
        for (auto other = place.ready.rbegin(); other != place.ready.rend() && ready < *other; ++other)
            if (before += other->cost; !(end.after(before) < soonest)) break;
        if (end.after(before) < soonest) soonest = end.after(before), best = &place;
    }
    return *best;
}

/// The lowest ranked task of the list with most work, where it ends sooner here.
ForeseenPolicy::Decision ForeseenPolicy::take_elsewhere(int worker)
{
    constexpr double part_of_the_difference = 0.1;
    Place* most = nullptr;
    for (Place& place : places_)
        if (!place.ready.empty() && (!most || place.cost > most->cost)) most = &place;
    if (!most) return {};
    const auto low = most->ready.begin();
    const Seconds here = view_.now + from_afar(low->task, home_of(worker)) + time(low->task, worker);
    const Seconds there = end_at(*most, low->task).after(most->cost) - low->cost;
    if (here <= there || low->cost == 0) return run(*most, low);
    return {.again_in = std::max({there - view_.now, 1e-4, part_of_the_difference * (here - there)})};
}

} // namespace trencadis::choices
