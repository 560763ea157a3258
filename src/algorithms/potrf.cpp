#include "algorithms/potrf.hpp"

#include "algorithms/trsm.hpp"
#include "kernels/tile_operations.hpp"

namespace trencadis {
namespace {

template <Scalar T> void substitute(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, TileMatrix<T> B, Guard guard)
{
    trsm(flow, kernels, Uplo::lower, Diag::non_unit, T(1), A, B, guard);
    trsm(flow, kernels, Uplo::upper, Diag::non_unit, T(1), herm(A), B, guard);
}

} // namespace

template <Scalar T> void potrf(TaskFlow& flow, const KernelProvider& kernels, TileMatrix<T> A, Info& info)
{
    for (Index k = 0; k < A.tiles(); ++k) {
        const Guard step{&info, A.first_row(k) + A(k, k).rows};
        task::potrf(flow, kernels, A(k, k), info, A.first_row(k));
        for (Index i = k + 1; i < A.tiles(); ++i) // A_ik <- A_ik L_kk^-H
            task::trsm(flow, kernels, Side::right, Uplo::upper, Diag::non_unit, T(1), herm(A(k, k)), A(i, k), step);
        for (Index j = k + 1; j < A.tiles(); ++j) {
            task::herk(flow, kernels, Real<T>(-1), A(j, k), Real<T>(1), A(j, j), step);
            for (Index i = j + 1; i < A.tiles(); ++i)
                task::gemm(flow, kernels, T(-1), A(i, k), herm(A(j, k)), T(1), A(i, j), step);
        }
    }
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
    template void potrs(TaskFlow&, const KernelProvider&, TileMatrix<T>, TileMatrix<T>);                                         \
    template void posv(TaskFlow&, const KernelProvider&, TileMatrix<T>, TileMatrix<T>, Info&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
