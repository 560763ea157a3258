#include "algorithms/tile_routines.hpp"

#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/routine.hpp"
#include "graph/immediate_flow.hpp"

#include <complex>

// The calls of the routines that are one builder, all alike: check, weigh, and run here or on the workers.

namespace trencadis {
namespace {

/// Runs `build(flow, nb)` on the calling thread.
template <Scalar T, class Build>
Index run_alone(const KernelProvider& kernels, std::string_view routine, Index n, const Build& build)
{
    ImmediateFlow flow(&kernels);
    build(flow, find_routine(routine).forms().front().tile(n, n, sizeof(T), 1));
    return flow.outcome().value();
}

template <Scalar T, class Build>
Index run_on_workers(Crew& crew, std::string_view routine, Index n, Flops flops, const RoutineOptions& options,
                     const Build& build)
{
    const std::string_view variant = options.variant.empty() ? default_variant(crew, routine) : options.variant;
    const Index nb = options.nb ? options.nb : default_tile(routine, variant, n, sizeof(T), crew.workers());
    const auto submit = [&](Flow& flow) { build(flow, nb); };
    if (is_crowded(crew, flops, options)) return run_routine(crew, options, submit, true);
    return run_where_best(crew, options, submit);
}

} // namespace

#define TRC_BUILD(routine) [&](Flow& flow, Index nb) { build::routine(flow, nb, TRC_ARGUMENTS_##routine(TRC_GIVE)); }
#define TRC_DEFINE(routine, ...)                                                                                                 \
    template <Scalar T> Index alone::routine(const KernelProvider& kernels, TRC_ARGUMENTS_##routine(TRC_TYPED))                  \
    {                                                                                                                            \
        return run_alone<T>(kernels, #routine, n, TRC_BUILD(routine));                                                           \
    }                                                                                                                            \
    template <Scalar T> Index routine(Crew& crew, TRC_ARGUMENTS_##routine(TRC_TYPED), const RoutineOptions& options)             \
    {                                                                                                                            \
        const InCall call(crew);                                                                                                 \
        require(call, TRC_ARGUMENTS_##routine(TRC_CHECK));                                                                       \
        check_options(#routine, options);                                                                                        \
        const Extents size = argument::extents(TRC_ARGUMENTS_##routine(TRC_CHECK));                                              \
        const Flops flops = find_routine(#routine).operations(size).flops(is_complex<T>);                                        \
        if (n == 0 || runs_directly(crew, flops, options, Work::factorization))                                                  \
            return alone::routine(crew.kernels(), TRC_ARGUMENTS_##routine(TRC_GIVE));                                            \
        return run_on_workers<T>(crew, #routine, n, flops, options, TRC_BUILD(routine));                                         \
    }
TRC_TILE_ROUTINES(TRC_DEFINE)

// The signatures call the scalar T.
#define TRC_INSTANTIATE(routine, ...)                                                                                            \
    template Index alone::routine(const KernelProvider&, TRC_ARGUMENTS_##routine(TRC_TYPED));                                    \
    template Index routine(Crew&, TRC_ARGUMENTS_##routine(TRC_TYPED), const RoutineOptions&);
#define T float
TRC_TILE_ROUTINES(TRC_INSTANTIATE)
#undef T
#define T double
TRC_TILE_ROUTINES(TRC_INSTANTIATE)
#undef T
#define T std::complex<float>
TRC_TILE_ROUTINES(TRC_INSTANTIATE)
#undef T
#define T std::complex<double>
TRC_TILE_ROUTINES(TRC_INSTANTIATE)
#undef T

} // namespace trencadis
