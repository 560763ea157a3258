#include "drivers/chosen.hpp"

#include "drivers/routine.hpp"

#include <exception>

namespace trencadis {

Chosen::Chosen(Crew& crew, const choices::Call& call, const RoutineOptions& asked) : crew_(crew), asked_(asked)
{
    if (asked.nb != 0 || !asked.variant.empty()) return;
    const choices::Plan plan = crew.plan(call);
    const Flops flops = choices::flops_of(call);
    by_caller_ = plan.by == choices::Plan::By::caller;
    alone_ = plan.by == choices::Plan::By::alone;
    here_ = is_crowded(crew, flops, asked);
    began_ = crew.note_call(call, plan, here_ || alone_, flops);
    if (began_) call_ = call, plan_ = plan; // the shortest calls would feel two copies
    if (plan.by != choices::Plan::By::tasks) return;
    const choices::Tiles tiles = choices::tiles_of(plan, call, crew.workers());
    own_.emplace(RoutineOptions{
        .nb = tiles.nb, .interrupted = asked.interrupted, .variant = std::string(plan.form->name), .or_another = true});
    grain_ = tiles.grain;
}

Chosen::~Chosen()
{
    if (began_ && !std::uncaught_exceptions()) crew_.note_end(call_, plan_, here_ || alone_, began_);
}

} // namespace trencadis
