#include "interfaces/lapack/faces.hpp"

#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/precision.hpp"

#include <exception>
#include <limits>

namespace trencadis::face {
namespace {

/// Did `call` end for want of memory?
template <class Call> bool without_memory(const Call& call)
{
    try {
        call();
        return false;
    } catch (const std::exception& failure) {
        if (!is_no_memory(failure)) throw;
        return true;
    }
}

} // namespace

#define TRC_SIZE(routine) [&] { return argument::extents(TRC_ARGUMENTS_##routine(TRC_CHECK)); }
#define TRC_COST(routine) TRC_COST_LIKE(routine, #routine)
#define TRC_COST_LIKE(routine, NAME)                                                                                             \
    [&] {                                                                                                                        \
        static const RoutineEntry& entry = find_routine(NAME);                                                                   \
        return entry.weight(TRC_SIZE(routine)(), is_complex<T>);                                                                 \
    }

/// Its info, and what it has written is made useless.
#define TRC_HALF_DONE(routine)                                                                                                   \
    (make_written_nan<T>(TRC_ARGUMENTS_##routine(TRC_CHECK)),                                                                    \
     exchange_nothing(written_pivots(TRC_ARGUMENTS_##routine(TRC_CHECK)), TRC_ARGUMENTS_##routine(TRC_PASS)), half_done)

/// What every routine does: look at the arguments, weigh the work, compute here or on workers.
#define TRC_BLAS(routine, ...)                                                                                                   \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE))                                                 \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        const bool done = compute(                                                                                               \
            Name<T>(#routine), argument::tiny(TRC_ARGUMENTS_##routine(TRC_CHECK)),                                               \
            argument::largest(TRC_ARGUMENTS_##routine(TRC_CHECK)), TRC_SIZE(routine), TRC_COST(routine),                         \
            [&](const KernelProvider& kernels) { alone::routine(kernels, TRC_ARGUMENTS_##routine(TRC_PASS)); },                  \
            [&](Session& session, const RoutineOptions& options) {                                                               \
                trencadis::routine(session, TRC_ARGUMENTS_##routine(TRC_PASS), options);                                         \
            },                                                                                                                   \
            false);                                                                                                              \
        if (!done) make_written_nan<T>(TRC_ARGUMENTS_##routine(TRC_CHECK));                                                      \
        return 0;                                                                                                                \
    }
TRC_BLAS_ROUTINES(TRC_BLAS)

#define TRC_LAPACK(routine, ...)                                                                                                 \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE), Index& info)                                    \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        const bool done = compute(                                                                                               \
            Name<T>(#routine), argument::tiny(TRC_ARGUMENTS_##routine(TRC_CHECK)),                                               \
            argument::largest(TRC_ARGUMENTS_##routine(TRC_CHECK)), TRC_SIZE(routine), TRC_COST(routine),                         \
            [&](const KernelProvider& kernels) { info = alone::routine(kernels, TRC_ARGUMENTS_##routine(TRC_PASS)); },           \
            [&](Session& session, const RoutineOptions& options) {                                                               \
                info =                                                                                                           \
                    argument::outcome([&] { return trencadis::routine(session, TRC_ARGUMENTS_##routine(TRC_PASS), options); });  \
            });                                                                                                                  \
        if (!done) info = TRC_HALF_DONE(routine);                                                                                \
        return 0;                                                                                                                \
    }
TRC_TASK_ROUTINES(TRC_LAPACK)

/// The same with an array of work for the calling thread alone.
#define TRC_EXPERT(routine, ...)                                                                                                 \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE), T* work, Index& info)                           \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        const bool done = compute(                                                                                               \
            Name<T>(#routine), argument::tiny(TRC_ARGUMENTS_##routine(TRC_CHECK)),                                               \
            argument::largest(TRC_ARGUMENTS_##routine(TRC_CHECK)), TRC_SIZE(routine),                                            \
            TRC_COST_LIKE(routine, TRC_COST_OF_##routine),                                                                       \
            [&](const KernelProvider& kernels) { info = alone::routine(kernels, TRC_ARGUMENTS_##routine(TRC_PASS), work); },     \
            [&](Session& session, const RoutineOptions& options) {                                                               \
                info = trencadis::routine(session, TRC_ARGUMENTS_##routine(TRC_PASS), options);                                  \
            });                                                                                                                  \
        if (!done) info = TRC_HALF_DONE(routine);                                                                                \
        return 0;                                                                                                                \
    }
TRC_EXPERT_ROUTINES(TRC_EXPERT)

/// What is over before anybody could help; only a program that has everything cut up (TRENCADIS_TILE) sees a session.
#define TRC_ESTIMATE(routine, WORK, ...)                                                                                         \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE) WORK, Index& info)                               \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        const bool done = compute(                                                                                               \
            Name<T>(#routine), true, 0, TRC_SIZE(routine), [] { return Flops(0); },                                              \
            [&](const KernelProvider& kernels) {                                                                                 \
                info = alone::routine(kernels, TRC_ARGUMENTS_##routine(TRC_PASS) __VA_ARGS__);                                   \
            },                                                                                                                   \
            [&](Session& session, const RoutineOptions&) {                                                                       \
                info = alone::routine(session.kernels(), TRC_ARGUMENTS_##routine(TRC_PASS) __VA_ARGS__);                         \
            });                                                                                                                  \
        if (!done) info = TRC_HALF_DONE(routine);                                                                                \
        return 0;                                                                                                                \
    }
#define TRC_NO_WORK
#define TRC_WORK , T* work
#define TRC_SCALING(routine, ...) TRC_ESTIMATE(routine, TRC_NO_WORK)
#define TRC_CONDITION(routine, ...) TRC_ESTIMATE(routine, TRC_WORK, , work)
TRC_SCALING_ROUTINES(TRC_SCALING)
TRC_CONDITION_ROUTINES(TRC_CONDITION)

// LAPACK's larft returns before it looks at anything. That larfb does so cannot be seen: of nothing it does nothing, and bad
// arguments it passes over.
#define TRC_IDLE_larft n <= 0
#define TRC_IDLE_larfb false
#define TRC_REFLECTORS(routine, ...)                                                                                             \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE))                                                 \
    {                                                                                                                            \
        if (TRC_IDLE_##routine) return 0;                                                                                        \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        const auto run = [&] { trencadis::routine(TRC_ARGUMENTS_##routine(TRC_PASS)); };                                         \
        const bool done = compute(                                                                                               \
            Name<T>(#routine), true, 0, TRC_SIZE(routine), [] { return Flops(0); }, [&](const KernelProvider&) { run(); },       \
            [&](Session&, const RoutineOptions&) { run(); }, false);                                                             \
        if (!done) make_written_nan<T>(TRC_ARGUMENTS_##routine(TRC_CHECK));                                                      \
        return 0;                                                                                                                \
    }
TRC_REFLECTOR_ROUTINES(TRC_REFLECTORS)

/// What workers have no memory for the calling thread does with that of the caller.
#define TRC_NORM(function, ...)                                                                                                  \
    template <Scalar T> Real<T> Faces<T>::function(TRC_ARGUMENTS_##function(TRC_FACE), Real<T>* work)                            \
    {                                                                                                                            \
        if (!norm.valid()) return 0;                                                                                             \
        Real<T> value = 0;                                                                                                       \
        const auto size = TRC_SIZE(function);                                                                                    \
        const auto cost = [&] { return 2 * std::max(size().m, size().n) * size().n; };                                           \
        const auto direct = [&] { value = alone::function(TRC_ARGUMENTS_##function(TRC_PASS), work); };                          \
        const bool done = compute(                                                                                               \
            Name<T>(#function), argument::tiny(TRC_ARGUMENTS_##function(TRC_CHECK)), 0, size, cost,                              \
            [&](const KernelProvider&) { direct(); },                                                                            \
            [&](Session& session, const RoutineOptions&) {                                                                       \
                if (without_memory([&] { value = trencadis::function(session, TRC_ARGUMENTS_##function(TRC_PASS)); })) direct(); \
            },                                                                                                                   \
            false);                                                                                                              \
        if (!done) value = std::numeric_limits<Real<T>>::quiet_NaN();                                                            \
        return value;                                                                                                            \
    }
TRC_NORM_ROUTINES(TRC_NORM)

#define TRC_WORKSPACE(routine, ...)                                                                                              \
    template <Scalar T> Workspace Faces<T>::routine##_workspace(TRC_ARGUMENTS_##routine(TRC_FACE), T* work, Index lwork)         \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return {bad, false};                        \
        const Index least = TRC_LEAST_WORK_##routine;                                                                            \
        if (lwork == -1) return *work = answered_size<T>(least), Workspace{0, true};                                             \
        if (lwork >= least) *work = answered_size<T>(least);                                                                     \
        return {lwork < least ? argument::count(TRC_ARGUMENTS_##routine(TRC_CHECK)) + 2 : 0, false};                             \
    }
TRC_WORKSPACE_ROUTINES(TRC_WORKSPACE)
TRC_PIVOTED_ROUTINES(TRC_WORKSPACE)
TRC_ORTHOGONAL_ROUTINES(TRC_WORKSPACE)

template struct Faces<float>;
template struct Faces<double>;
template struct Faces<std::complex<float>>;
template struct Faces<std::complex<double>>;

} // namespace trencadis::face
