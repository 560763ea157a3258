#include "drivers/chosen.hpp"

#include "drivers/routine.hpp"

namespace trencadis {

Chosen::Chosen(Crew& crew, const choices::Call& call, const RoutineOptions& asked) : asked_(asked)
{
    if (asked.nb != 0 || !asked.variant.empty()) return;
    const choices::Plan plan = crew.plan(call);
    by_caller_ = plan.by == choices::Plan::By::caller;
    here_ = is_crowded(crew, choices::flops_of(call), asked);
    crew.note_call(call, plan, here_);
    if (plan.by != choices::Plan::By::tasks) return;
    const choices::Tiles tiles = choices::tiles_of(plan, call, crew.workers());
    own_.emplace(RoutineOptions{.nb = tiles.nb, .interrupted = asked.interrupted, .variant = std::string(plan.form->name)});
    grain_ = tiles.grain;
}

} // namespace trencadis
