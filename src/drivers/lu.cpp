#include "blas/factorizations/lu.hpp"
#include "algorithms/getri.hpp"
#include "algorithms/signatures.hpp"
#include "algorithms/tile_size.hpp"
#include "drivers/alone.hpp"
#include "drivers/chosen.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/lone_crew.hpp"
#include "drivers/sharing.hpp"
#include "graph/immediate_flow.hpp"
#include "kernels/tiles/getri_operations.hpp"
#include "matrix/diagonal.hpp"
#include "matrix/operations.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace trencadis {
namespace {

/// Memory for so many numbers; none where there is none.
template <Scalar T> std::unique_ptr<WorkMemory> memory_for(Index count)
{
    try {
        return std::make_unique<WorkMemory>(std::size_t(count) * sizeof(T));
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return nullptr;
    }
}

/// B <- op(A)^-1 B with the factors of LU: `solve(uplo, diag)` by one of the triangles.
template <Scalar T, class Solve>
void solve_twice(Op op, Index n, Index nrhs, const Index* ipiv, T* B, Index ldb, const Solve& solve)
{
    if (op == Op::none) blas::laswp(nrhs, B, ldb, 0, n, ipiv);
    if (op == Op::none) solve(Uplo::lower, Diag::unit);
    solve(Uplo::upper, Diag::non_unit);
    if (op == Op::none) return;
    solve(Uplo::lower, Diag::unit);
    blas::laswp(nrhs, B, ldb, 0, n, ipiv, blas::Interchanges::backward);
}

} // namespace

namespace alone {

template <Scalar T> Index getrf(const KernelProvider& kernels, Index m, Index n, T* A, Index lda, Index* ipiv)
{
    return m == 0 || n == 0 ? 0 : kernels.getrf(m, n, A, lda, ipiv);
}

template <Scalar T>
Index getrs(const KernelProvider& kernels, Op op, Index n, Index nrhs, const T* A, Index lda, const Index* ipiv, T* B, Index ldb)
{
    if (n == 0 || nrhs == 0) return 0;
    solve_twice(op, n, nrhs, ipiv, B, ldb,
                [&](Uplo uplo, Diag diag) { trsm(kernels, Side::left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb); });
    return 0;
}

template <Scalar T> Index gesv(const KernelProvider& kernels, Index n, Index nrhs, T* A, Index lda, Index* ipiv, T* B, Index ldb)
{
    const Index info = getrf(kernels, n, n, A, lda, ipiv);
    return info ? info : getrs(kernels, Op::none, n, nrhs, A, lda, ipiv, B, ldb);
}

template <Scalar T> Index getri(const KernelProvider& kernels, Index n, T* A, Index lda, const Index* ipiv)
{
    constexpr Index whole = 256; // larger ones by tiles, whose memory grows with n alone
    if (const Index zero = zero_on_diagonal(n, A, lda)) return zero;
    if (n == 0) return 0;
    if (n <= whole)
        if (const std::unique_ptr<WorkMemory> memory = memory_for<T>(n * n))
            return trencadis::getri(kernels, n, A, lda, ipiv, static_cast<T*>(memory->data())), 0;
    const TwoColumns<T> columns(n, std::min<Index>(n, 64));
    ImmediateFlow flow(&kernels);
    getri(flow, TileMatrix<T>({A, n, n, lda}, columns.nb(), columns.nb()), ipiv, columns.tiles());
    return 0;
}

} // namespace alone

namespace {

template <Scalar T> Work work_of_direct_lu(const Crew& crew, Index m, Index n)
{
    return crew.shares_calls() ? work_of_lu(m, n, is_complex<T>) : Work::factorization;
}

/// On the calling thread, which others help where the kernels are ours.
template <Scalar T>
Index factor_directly(Crew& crew, Index m, Index n, T* A, Index lda, Index* ipiv, const RoutineOptions& options)
{
    if (!crew.kernels().native(KernelRoutine::getrf)) return alone::getrf(crew.kernels(), m, n, A, lda, ipiv);
    const Flops flops = operations::getrf(double(m), double(n)).flops<T>();
    return blas::getrf(m, n, A, lda, ipiv, helpers<T>(crew, flops, 2 * flops, options));
}

/// Are panels of an m x n matrix cut up where several workers factor them, so that they have other bits than `getrf` gives them?
template <Scalar T> bool shares_panels(Index m, Index nb, int workers)
{
    return operations::getrf(double(m), double(nb)).flops<T>() >= lu_panel_cut(nb, workers).worth;
}

/// By the calling thread alone, in the tiles that all would share; those right of a panel together, where they lie as in memory.
template <Scalar T>
Index factor_tiles_here(Crew& crew, Index m, Index n, T* A, Index lda, Index* ipiv, const RoutineOptions& options)
{
    const OfOneCore one = of_one_core(crew, forms::getrf(), options, {.m = m, .n = n}, LaidOut::scalars<T>);
    if (one.in_place && crew.kernels().native(KernelRoutine::getrf) && !shares_panels<T>(m, one.options.nb, crew.workers()))
        return blas::getrf_in_steps(m, n, one.options.nb, A, lda, ipiv);
    return lay_out<T>(crew, forms::getrf(), one.options, one.problem, {{A, lda}, {ipiv}}).run(crew, one.options, true);
}

} // namespace

template <Scalar T> Index getrf(Crew& crew, Index m, Index n, T* A, Index lda, Index* ipiv, const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_getrf(TRC_CHECK));
    require_lapack_layout(check_options("getrf", options));
    if (m == 0 || n == 0) return 0;
    if (there) return run_on_devices<T>(crew, forms::getrf(), options, {.m = m, .n = n}, {{A, lda}, {ipiv}});
    const Chosen how(crew, {"getrf", layout_of_precision<T>, m, n}, options);
    if (how.alone()) {
        LoneCrew one(crew);
        return getrf(one, m, n, A, lda, ipiv, options);
    }
    const Flops flops = operations::getrf(double(m), double(n)).flops<T>();
    if (how.by_caller() || runs_directly(crew, flops, how.options(), work_of_direct_lu<T>(crew, m, n)))
        return factor_directly(crew, m, n, A, lda, ipiv, options);
    if (how.here()) return factor_tiles_here(crew, m, n, A, lda, ipiv, how.options());
    return lay_out<T>(crew, forms::getrf(), how.options(), {.m = m, .n = n}, {{A, lda}, {ipiv}}).run(crew, how.options());
}

namespace {

/// nrhs > 0 right sides of order n > 0, on this machine's cores.
template <Scalar T>
void solve(Crew& crew, const Problem& problem, const T* A, Index lda, const Index* ipiv, T* B, Index ldb,
           const RoutineOptions& options)
{
    const Flops flops = operations::getrs(double(problem.n), double(problem.nrhs)).flops<T>();
    if (solves_vectors(crew.kernels(), problem.nrhs, options) || solves_few<T>(crew, problem.n, problem.nrhs, options))
        return solve_twice(problem.op, problem.n, problem.nrhs, ipiv, B, ldb, [&](Uplo uplo, Diag diag) {
            trsm(crew, Side::left, uplo, problem.op, diag, problem.n, problem.nrhs, T(1), A, lda, B, ldb, options);
        });
    if (runs_directly(crew, flops, options, Work::solve))
        return void(alone::getrs(crew.kernels(), problem.op, problem.n, problem.nrhs, A, lda, ipiv, B, ldb));
    lay_out<T>(crew, forms::getrs(), options, problem, {{A, lda}, {ipiv}, {B, ldb}})
        .run(crew, options, is_crowded(crew, flops, options));
}

template <Scalar T> Problem right_sides(const Crew& crew, Op op, Index n, Index nrhs, const RoutineOptions& options)
{
    const Index nb = options.nb ? options.nb : lu_tile(n, n, sizeof(T), crew.workers());
    return {.m = n, .n = n, .nrhs = nrhs, .rhs_nb = rhs_tile(crew, nb, nrhs, options), .op = op};
}

} // namespace

template <Scalar T>
void getrs(Crew& crew, Op op, Index n, Index nrhs, const T* A, Index lda, const Index* ipiv, T* B, Index ldb,
           const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_getrs(TRC_CHECK));
    check_options("getrs", options);
    if (n == 0 || nrhs == 0) return;
    const Problem problem = right_sides<T>(crew, op, n, nrhs, options);
    if (there) return void(run_on_devices<T>(crew, forms::getrs(), options, problem, {{A, lda}, {ipiv}, {B, ldb}}));
    solve(crew, problem, A, lda, ipiv, B, ldb, options);
}

/// Is the factorization one that goes without tasks, the solution follows by itself: a graph of both gains less.
template <Scalar T>
Index gesv(Crew& crew, Index n, Index nrhs, T* A, Index lda, Index* ipiv, T* B, Index ldb, const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_gesv(TRC_CHECK));
    check_options("gesv", options);
    if (n == 0) return 0;
    const Problem problem{.m = n, .n = n, .nrhs = nrhs};
    if (there) return run_on_devices<T>(crew, forms::gesv(), options, problem, {{A, lda}, {ipiv}, {B, ldb}});
    if (runs_directly(crew, operations::getrf(double(n), double(n)).flops<T>(), options, work_of_direct_lu<T>(crew, n, n))) {
        const Index info = factor_directly(crew, n, n, A, lda, ipiv, options);
        if (info == 0 && nrhs > 0) solve(crew, right_sides<T>(crew, Op::none, n, nrhs, options), A, lda, ipiv, B, ldb, options);
        return info;
    }
    const Flops flops = operations::gesv(double(n), double(nrhs)).flops<T>();
    return run_laid_out<T>(crew, forms::gesv(), options, problem, {{A, lda}, {ipiv}, {B, ldb}}, is_crowded(crew, flops, options));
}

template <Scalar T> Index getri(Crew& crew, Index n, T* A, Index lda, const Index* ipiv, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_getri(TRC_CHECK));
    check_options("getri", options);
    const Flops flops = operations::getri(double(n)).flops<T>();
    if (runs_directly(crew, flops, options, Work::factorization)) return alone::getri(crew.kernels(), n, A, lda, ipiv);
    if (const Index zero = zero_on_diagonal(n, A, lda)) return zero;
    if (n == 0) return 0;
    return lay_out<T>(crew, forms::getri(), options, {.m = n, .n = n}, {{A, lda}, {ipiv}})
        .run(crew, options, is_crowded(crew, flops, options));
}

template <Scalar T> void laswp(Index m, Index n, T* A, Index lda, Index first, Index last, const Index* ipiv, bool backward)
{
    argument::require(argument::Size{"m", m}, argument::Size{"n", n}, TRC_CHECK_INOUT(A, lda, m, n),
                      argument::Size{"first", first});
    if (last > m)
        throw Error(ErrorCode::bad_argument, 6, "last is " + std::to_string(last) + ", must be at most m = " + std::to_string(m));
    if (first < last) argument::Pivots{"ipiv", ipiv ? ipiv + first : ipiv, last - first, m}.require(7);
    if (first < last)
        blas::laswp(n, A, lda, first, last, ipiv, backward ? blas::Interchanges::backward : blas::Interchanges::forward);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index alone::getrf(const KernelProvider&, Index, Index, T*, Index, Index*);                                         \
    template Index alone::getrs(const KernelProvider&, Op, Index, Index, const T*, Index, const Index*, T*, Index);              \
    template Index alone::getri(const KernelProvider&, Index, T*, Index, const Index*);                                          \
    template Index alone::gesv(const KernelProvider&, Index, Index, T*, Index, Index*, T*, Index);                               \
    template Index getrf(Crew&, Index, Index, T*, Index, Index*, const RoutineOptions&);                                         \
    template void getrs(Crew&, Op, Index, Index, const T*, Index, const Index*, T*, Index, const RoutineOptions&);               \
    template Index gesv(Crew&, Index, Index, T*, Index, Index*, T*, Index, const RoutineOptions&);                               \
    template Index getri(Crew&, Index, T*, Index, const Index*, const RoutineOptions&);                                          \
    template void laswp(Index, Index, T*, Index, Index, Index, const Index*, bool);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
