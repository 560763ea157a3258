#include "random_graph.hpp"

#include <fmt/format.h>

namespace trencadis::testing {
namespace {

bool throws(const GraphPlan::Step& step)
{
    if (step.chunks) return false;
    for (const GraphPlan::Step& child : step.children)
        if (throws(child)) return true;
    return step.throws;
}

} // namespace

FailureModel::FailureModel(const GraphPlan& plan) : groups_(std::size_t(plan.data))
{
    for (const GraphPlan::Step& step : plan.steps) add(step);
}

void FailureModel::add(const GraphPlan::Step& step)
{
    Doom doom;
    for (const GraphPlan::Use& use : step.effective) doom.add(enter(groups_[std::size_t(use.datum)], use.mode));
    if (doom.certain) certainly_not_.insert(step.id);
    if (!doom.possible) certainly_run_.insert(step.id);
    if (throws(step)) {
        if (first_thrower_ < 0) first_thrower_ = step.id;
        doom = {true, true}; // thrown or dropped: spoilt either way
    }
    for (const GraphPlan::Use& use : step.effective)
        if (is_writing(use.mode)) groups_[std::size_t(use.datum)].within.add(doom);
}

FailureModel::Doom FailureModel::enter(Group& group, AccessMode mode)
{
    if (!is_shared(mode) || group.mode != mode) {
        group.before.add(group.within);
        group.within = {};
        group.mode = mode;
    }
    return {group.before.certain, group.before.possible || group.within.possible};
}

std::string FailureModel::difference(const GraphPlan& plan, const Outcome& seen) const
{
    if (seen.violations.load()) return fmt::format("{} violations", seen.violations.load());
    if (seen.exception.empty() != (first_thrower_ < 0)) return fmt::format("'{}' was thrown", seen.exception);
    for (const GraphPlan::Step& step : plan.steps) {
        if (step.chunks) continue; // counted by chunk
        const int ran = seen.ran[std::size_t(step.id)].load();
        if (ran > (certainly_not_.count(step.id) ? 0 : 1)) return fmt::format("ran {} times: {}", ran, describe(step));
        if (ran < (certainly_run_.count(step.id) ? 1 : 0)) return fmt::format("did not run: {}", describe(step));
        // The exception's text is the id of the task that threw: the earliest one itself, or a child of it.
        if (step.id == first_thrower_ && step.children.empty() && seen.exception != std::to_string(step.id))
            return fmt::format("'{}' was thrown, the earliest is {}", seen.exception, step.id);
    }
    return {};
}

} // namespace trencadis::testing
