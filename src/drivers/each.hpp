#pragma once
#include "drivers/routine.hpp"
#include "kernels/tiles/batch.hpp"

#include <algorithm>

namespace trencadis {

/// `one(kernels, i)` for each of `count` problems of `each` flops that have nothing to do with one another, by the crew where it
/// can help. Long batches are several tasks, one after the other: a cancelled call ends with those that have begun.
template <class One> void for_each_problem(Crew& crew, const RoutineOptions& options, Index count, Flops each, const One& one)
{
    const auto call = [](const void* given, const KernelProvider& kernels, Index i) {
        (*static_cast<const One*>(given))(kernels, i);
    };
    constexpr Flops at_a_time = 1e8; // no tenth of a second, even at the speed of memory
    const Flops all = each * double(count);
    if (count > 1 && !runs_directly(crew, all, options) && !(all <= at_a_time && is_crowded(crew, all, options))) {
        const Index most = std::clamp<Index>(Index(at_a_time / std::max(each, 1.0)), 1, count);
        run_routine(crew, options, [&](Flow& flow) {
            for (Index first = 0; first < count; first += most)
                task::batch(flow, {&one, call, first, std::min(most, count - first), each});
        });
        return;
    }
    for (Index i = 0; i < count; ++i) one(crew.kernels(), i);
}

} // namespace trencadis
