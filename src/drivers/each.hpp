#pragma once
#include "drivers/routine.hpp"
#include "kernels/tiles/batch.hpp"

namespace trencadis {

/// `one(kernels, i)` for each of `count` problems of `each` flops that have nothing to do with one another, by the crew where it can
/// help.
template <class One> void for_each_problem(Crew& crew, const RoutineOptions& options, Index count, Flops each, const One& one)
{
    const auto call = [](const void* given, const KernelProvider& kernels, Index i) {
        (*static_cast<const One*>(given))(kernels, i);
    };
    const task::Batch problems{&one, call, count, each};
    if (count > 1 && !runs_directly(crew, problems.flops(), options))
        return void(run_routine(crew, options, [&](Flow& flow) { task::batch(flow, problems); }));
    for (Index i = 0; i < count; ++i) one(crew.kernels(), i);
}

} // namespace trencadis
