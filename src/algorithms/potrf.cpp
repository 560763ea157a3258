#include "algorithms/potrf.hpp"

#include "algorithms/trsm.hpp"
#include "kernels/tile_access.hpp"
#include "kernels/tile_operations.hpp"

namespace trencadis {
namespace {

/// The steps of Cholesky; `factor_diagonal(tile, row before its first)` submits what factors a diagonal tile. Row numbers in
/// `info` start at `first_row`.
template <Scalar T, class FactorDiagonal>
void right_looking(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, Info& info, Index first_row,
                   FactorDiagonal factor_diagonal)
{
    for (Index k = 0; k < A.tiles(); ++k) {
        const Index row = first_row + A.first_row(k);
        const Guard step{&info, row + A(k, k).rows};
        factor_diagonal(A(k, k), row);
        for (Index i = k + 1; i < A.tiles(); ++i) // A_ik <- A_ik L_kk^-H
            task::trsm(flow, kernels, Side::right, Uplo::upper, Diag::non_unit, T(1), herm(A(k, k)), A(i, k), step);
        for (Index j = k + 1; j < A.tiles(); ++j) {
            task::herk(flow, kernels, Real<T>(-1), A(j, k), Real<T>(1), A(j, j), step);
            for (Index i = j + 1; i < A.tiles(); ++i)
                task::gemm(flow, kernels, T(-1), A(i, k), herm(A(j, k)), T(1), A(i, j), step);
        }
    }
}

/// A diagonal tile as a tile Cholesky of its own, tiles inner x inner, in a flow inside the task.
template <Scalar T> struct NestedArgs {
    const KernelProvider* kernels;
    Tile<T> A;
    Index inner;
    Info* info;
    Index first_row;

    Flops flops() const { return flops_per_fma<T> / 6 * double(A.rows) * double(A.rows) * double(A.rows); }
    void run(TaskContext& context)
    {
        if (info->reached(first_row)) return;
        const TileMatrix<T> tiles({A.data, A.stored_rows(), A.stored_cols(), A.ld}, inner, inner);
        TaskFlow& flow = context.flow();
        right_looking(flow, *kernels, tiles.with(A.op), *info, first_row,
                      [&](Tile<T> diagonal, Index row) { task::potrf(flow, *kernels, diagonal, *info, row); });
    }
};

template <Scalar T> void submit_nested(TaskFlow& flow, const NestedArgs<T>& args)
{
    static constexpr Codelet codelet = [] {
        Codelet nested = codelet_of<NestedArgs<T>>("potrf_nested");
        nested.submits = true;
        nested.counted = false; // the tasks inside are
        return nested;
    }();
    flow.submit(codelet, args, {readwrite(args.A)});
}

template <Scalar T> void substitute(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, TileMatrix<T> B, Guard guard)
{
    trsm(flow, kernels, Uplo::lower, Diag::non_unit, T(1), A, B, guard);
    trsm(flow, kernels, Uplo::upper, Diag::non_unit, T(1), herm(A), B, guard);
}

} // namespace

template <Scalar T> void potrf(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, Info& info)
{
    right_looking(flow, kernels, A, info, 0,
                  [&](Tile<T> diagonal, Index first_row) { task::potrf(flow, kernels, diagonal, info, first_row); });
}

template <Scalar T> void potrf_two_level(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, Index inner, Info& info)
{
    right_looking(flow, kernels, A, info, 0, [&](Tile<T> diagonal, Index first_row) {
        if (diagonal.rows <= inner) task::potrf(flow, kernels, diagonal, info, first_row);
        else submit_nested(flow, NestedArgs<T>{&kernels, diagonal, inner, &info, first_row});
    });
}

template <Scalar T> void potrs(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, TileMatrix<T> B)
{
    substitute(flow, kernels, A, B, Guard{});
}

template <Scalar T> void posv(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, TileMatrix<T> B, Info& info)
{
    potrf(flow, kernels, A, info);
    const Index last = A.tiles() - 1;
    for (Index j = 0; j < B.col_tiles() && last >= 0; ++j) task::after(flow, A(last, last), B(0, j));
    substitute(flow, kernels, A, B, Guard{&info, A.rows()});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void potrf(TaskFlow&, const KernelProvider&, TileMatrix<T>, Info&);                                                 \
    template void potrf_two_level(TaskFlow&, const KernelProvider&, TileMatrix<T>, Index, Info&);                                \
    template void potrs(TaskFlow&, const KernelProvider&, TileMatrix<T>, TileMatrix<T>);                                         \
    template void posv(TaskFlow&, const KernelProvider&, TileMatrix<T>, TileMatrix<T>, Info&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
