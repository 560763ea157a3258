#include "interfaces/lapack/faces.hpp"

#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/precision.hpp"
#include "session/alone.hpp"
#include "session/linear_algebra.hpp"

namespace trencadis::face {
/// What every routine does: look at the arguments, weigh the work, compute here or on workers.
#define TRC_BLAS(routine, ...)                                                                                                   \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE))                                                 \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        static const RoutineEntry& entry = find_routine(#routine);                                                               \
        const Extents size = argument::extents(TRC_ARGUMENTS_##routine(TRC_CHECK));                                              \
        compute(                                                                                                                 \
            Name<T>(#routine), size, entry.operations(size).flops(is_complex<T>),                                                \
            [&](const KernelProvider& kernels) { kernels.routine(TRC_ARGUMENTS_##routine(TRC_PASS)); },                          \
            [&](Session& session, const RoutineOptions& options) {                                                               \
                trencadis::routine(session, TRC_ARGUMENTS_##routine(TRC_PASS), options);                                         \
            });                                                                                                                  \
        return 0;                                                                                                                \
    }
TRC_BLAS_ROUTINES(TRC_BLAS)

#define TRC_LAPACK(routine, ...)                                                                                                 \
    template <Scalar T> int Faces<T>::routine(TRC_ARGUMENTS_##routine(TRC_FACE), Index& info)                                    \
    {                                                                                                                            \
        if (const int bad = argument::first_bad(TRC_ARGUMENTS_##routine(TRC_CHECK))) return bad;                                 \
        static const RoutineEntry& entry = find_routine(#routine);                                                               \
        const Extents size = argument::extents(TRC_ARGUMENTS_##routine(TRC_CHECK));                                              \
        compute(                                                                                                                 \
            Name<T>(#routine), size, entry.operations(size).flops(is_complex<T>),                                                \
            [&](const KernelProvider& kernels) {                                                                                 \
                info = argument::outcome([&] { return alone::routine(kernels, TRC_ARGUMENTS_##routine(TRC_PASS)); });            \
            },                                                                                                                   \
            [&](Session& session, const RoutineOptions& options) {                                                               \
                info =                                                                                                           \
                    argument::outcome([&] { return trencadis::routine(session, TRC_ARGUMENTS_##routine(TRC_PASS), options); });  \
            });                                                                                                                  \
        return 0;                                                                                                                \
    }
TRC_LAPACK_ROUTINES(TRC_LAPACK)

template struct Faces<float>;
template struct Faces<double>;
template struct Faces<std::complex<float>>;
template struct Faces<std::complex<double>>;

} // namespace trencadis::face
