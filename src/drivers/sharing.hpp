#pragma once
#include "drivers/routine.hpp"

#include <functional>

namespace trencadis {

/// Carries out an operation that a team can share (blas::SmallProduct, TeamProduct, TeamSolve) by the caller and whoever is
/// awake. False: nothing was done.
template <class Operation> bool share_out(Crew& crew, Operation& operation)
{
    const auto work = [&](Team& team) { operation.work(team); };
    return operation.chunks() > 1 && crew.share_out(operation.chunks(), std::cref(work));
}

/// Is a call of so many flops short enough that a graph of tasks would cost more than it gains? `ours`: its kernels are.
inline bool may_be_short(Flops flops, bool ours, const RoutineOptions& options, Flops most = 1.2e8)
{
    constexpr Flops least = 5e5; // less is over before another core has begun
    return ours && flops >= least && flops <= most && options.nb == 0 && options.variant.empty();
}
/// And are others awake that would take part? Where they are not, or do not in the end, the call's other ways must give the same
/// bits.
inline bool is_short(Crew& crew, Flops flops, bool ours, const RoutineOptions& options, Flops most = 1.2e8)
{
    return may_be_short(flops, ours, options, most) && crew.can_share(flops);
}

} // namespace trencadis
