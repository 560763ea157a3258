#include "algorithms/empty_cholesky.hpp"
#include "algorithms/signatures.hpp"
#include "blas/level3/level3.hpp"
#include "drivers/alone.hpp"
#include "drivers/chosen.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/lone_crew.hpp"
#include "drivers/sharing.hpp"
#include "matrix/operations.hpp"

#include <memory>

namespace trencadis {
namespace {

/// B <- A^-1 B with Cholesky's factor: `solve(op)` by the triangle.
template <Scalar T, class Solve> void solve_twice(Uplo uplo, const Solve& solve)
{
    const bool lower = uplo == Uplo::lower;
    solve(lower ? Op::none : herm_op<T>);
    solve(lower ? herm_op<T> : Op::none);
}

} // namespace

namespace alone {

template <Scalar T> Index potrf(const KernelProvider& kernels, Uplo uplo, Index n, T* A, Index lda)
{
    return n == 0 ? 0 : kernels.potrf(uplo, n, A, lda);
}

template <Scalar T>
Index potrs(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb)
{
    if (n == 0 || nrhs == 0) return 0;
    solve_twice<T>(uplo, [&](Op op) { trsm(kernels, Side::left, uplo, op, Diag::non_unit, n, nrhs, T(1), A, lda, B, ldb); });
    return 0;
}

template <Scalar T> Index posv(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb)
{
    const Index info = potrf(kernels, uplo, n, A, lda);
    if (info == 0) potrs(kernels, uplo, n, nrhs, A, lda, B, ldb);
    return info;
}

} // namespace alone

namespace {

/// On the calling thread, which others help where the kernels are ours. The bits are those of a single worker.
template <Scalar T> Index factor_directly(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options)
{
    if (crew.workers() == 1 || !crew.kernels().native(KernelRoutine::potrf)) return alone::potrf(crew.kernels(), uplo, n, A, lda);
    const Flops flops = operations::potrf(double(n)).flops<T>();
    return blas::potrf(uplo, n, A, lda, helpers<T>(crew, flops, flops / 2, options));
}

/// Would others save more of it than it takes them to get their part of the triangle? Of what they could do tiles that are few
/// leave them a twelfth to wait for.
template <Scalar T> bool is_worth_moving(const Crew& crew, Flops flops, Bytes triangle)
{
    constexpr double kept_busy = 11.0 / 12;
    const double others = kept_busy * (1 - 1.0 / crew.workers());
    return others * flops > flops_for_a_byte<T>(crew) * triangle;
}

/// A call of medium length is cut into tiles whoever has time, for the sake of its bits. Where nobody has, or cores are too far
/// from each other, they are all its caller's.
template <Scalar T> bool is_alone(Crew& crew, Flops flops, Index n, const RoutineOptions& options)
{
    constexpr Flops medium = 2e7;
    const Bytes triangle = double(n) * double(n) / 2 * sizeof(T);
    return flops <= medium && options.nb == 0 && options.variant.empty() && crew.kernels().native() &&
           (crew.outlook(flops) == Crew::Outlook::busy || !is_worth_moving<T>(crew, flops, triangle));
}

/// By the calling thread alone, in the tiles that all would share; those of a column together, where they lie as in memory.
template <Scalar T> Index factor_tiles_here(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options)
{
    const Problem problem{.m = n, .n = n, .uplo = uplo};
    const OfOneCore one = of_one_core(crew, forms::potrf(), options, problem, LaidOut::scalars<T>);
    if (one.in_place && crew.kernels().native(KernelRoutine::potrf)) return blas::potrf_in_steps(uplo, n, one.options.nb, A, lda);
    return lay_out<T>(crew, forms::potrf(), one.options, problem, {{A, lda}}).run(crew, one.options, true);
}

} // namespace

template <Scalar T> Index potrf(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_potrf(TRC_CHECK));
    check_options("potrf", options);
    if (n == 0) return 0;
    if (there) return run_on_devices<T>(crew, forms::potrf(), options, {.m = n, .n = n, .uplo = uplo}, {{A, lda}});
    const Chosen how(crew, {"potrf", layout_of_precision<T>, n, n}, options);
    if (how.alone()) {
        LoneCrew one(crew);
        return potrf(one, uplo, n, A, lda, options);
    }
    const Flops flops = operations::potrf(double(n)).flops<T>();
    if (how.by_caller() || runs_directly(crew, flops, how.options(), Work::cholesky))
        return factor_directly(crew, uplo, n, A, lda, options);
    if (how.here() || is_alone<T>(crew, flops, n, options)) return factor_tiles_here(crew, uplo, n, A, lda, how.options());
    return lay_out<T>(crew, forms::potrf(), how.options(), {.m = n, .n = n, .uplo = uplo}, {{A, lda}}).run(crew, how.options());
}

template <Scalar T>
void potrs(Crew& crew, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb, const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_potrs(TRC_CHECK));
    check_options("potrs", options);
    if (n == 0 || nrhs == 0) return;
    const Problem problem{.m = n, .n = n, .nrhs = nrhs, .uplo = uplo};
    if (there) return void(run_on_devices<T>(crew, forms::potrs(), options, problem, {{A, lda}, {B, ldb}}));
    if (solves_vectors(crew.kernels(), nrhs, options) || solves_few<T>(crew, n, nrhs, options))
        return solve_twice<T>(
            uplo, [&](Op op) { trsm(crew, Side::left, uplo, op, Diag::non_unit, n, nrhs, T(1), A, lda, B, ldb, options); });
    const Flops flops = operations::potrs(double(n), double(nrhs)).flops<T>();
    if (runs_directly(crew, flops, options, Work::solve))
        return void(alone::potrs(crew.kernels(), uplo, n, nrhs, A, lda, B, ldb));
    lay_out<T>(crew, forms::potrs(), options, problem, {{A, lda}, {B, ldb}}).run(crew, options, is_crowded(crew, flops, options));
}

template <Scalar T>
Index posv(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_posv(TRC_CHECK));
    check_options("posv", options);
    if (n == 0) return 0;
    const Problem problem{.m = n, .n = n, .nrhs = nrhs, .uplo = uplo};
    if (there) return run_on_devices<T>(crew, forms::posv(), options, problem, {{A, lda}, {B, ldb}});
    const Flops flops = operations::posv(double(n), double(nrhs)).flops<T>();
    if (runs_directly(crew, flops, options, Work::cholesky)) {
        const Index info = factor_directly(crew, uplo, n, A, lda, options);
        if (info == 0) alone::potrs(crew.kernels(), uplo, n, nrhs, A, lda, B, ldb);
        return info;
    }
    return run_laid_out<T>(crew, forms::posv(), options, problem, {{A, lda}, {B, ldb}},
                           is_crowded(crew, flops, options) || is_alone<T>(crew, flops, n, options));
}

Index tasks(Crew& crew, Index tile_rows, const RoutineOptions& options)
{
    argument::Size{"tile_rows", tile_rows}.require(2);
    check_options("tasks", options);
    constexpr Index most = 3000; // 4.5e9 tasks; the table of addresses stays within the machine's integers and memory
    if (tile_rows > most)
        throw Error(ErrorCode::bad_argument, 2,
                    "tile_rows is " + std::to_string(tile_rows) + ", must be at most " + std::to_string(most));
    const auto names = std::make_unique_for_overwrite<char[]>(std::size_t(tile_rows * tile_rows));
    run_routine(crew, options, [&](Flow& flow) { empty_cholesky(flow, names.get(), tile_rows); });
    return empty_cholesky_tasks(tile_rows);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index alone::potrf(const KernelProvider&, Uplo, Index, T*, Index);                                                  \
    template Index alone::potrs(const KernelProvider&, Uplo, Index, Index, const T*, Index, T*, Index);                          \
    template Index alone::posv(const KernelProvider&, Uplo, Index, Index, T*, Index, T*, Index);                                 \
    template Index potrf(Crew&, Uplo, Index, T*, Index, const RoutineOptions&);                                                  \
    template void potrs(Crew&, Uplo, Index, Index, const T*, Index, T*, Index, const RoutineOptions&);                           \
    template Index posv(Crew&, Uplo, Index, Index, T*, Index, T*, Index, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
