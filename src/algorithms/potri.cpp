#include "algorithms/tile_routines.hpp"
#include "kernels/tiles/inverse_operations.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <complex>

namespace trencadis {
namespace {

/// The triangle as the lower one, in tiles.
template <Scalar T> TileMatrix<T> lower_tiles(Uplo uplo, Index n, T* A, Index lda, Index nb)
{
    return TileMatrix<T>({A, n, n, lda}, nb, nb).with(uplo == Uplo::lower ? Op::none : herm_op<T>);
}

/// The lower triangle of L^H L in the place of L: rows above k hold sums so far, to which tile row k adds. The same authors.
template <Scalar T> void multiply_by_itself(Flow& flow, TileMatrix<T> A, Guard guard)
{
    for (Index k = 0; k < A.tiles(); ++k) {
        for (Index j = 0; j < k; ++j) {
            task::herk(flow, Real<T>(1), herm(A(k, j)), Real<T>(1), A(j, j), guard);
            for (Index i = j + 1; i < k; ++i) task::gemm(flow, T(1), herm(A(k, i)), A(k, j), T(1), A(i, j), guard);
        }
        for (Index j = 0; j < k; ++j)
            task::trmm(flow, Side::left, Uplo::upper, Diag::non_unit, T(1), herm(A(k, k)), A(k, j), guard);
        task::lauum(flow, A(k, k), guard);
    }
}

} // namespace

/// From the top: at step k the rows above k hold the inverse, rows below it what is left to be multiplied with
/// what comes. Agullo, Bouwmeester, Dongarra, Kurzak, Langou, Rosenberg 2011.
template <Scalar T> void invert_triangle(Flow& flow, Diag diag, TileMatrix<T> A, Guard guard)
{
    for (Index k = 0; k < A.tiles(); ++k) {
        for (Index i = k + 1; i < A.tiles(); ++i) {
            task::trsm(flow, Side::right, Uplo::lower, diag, T(-1), A(k, k), A(i, k), guard);
            for (Index j = 0; j < k; ++j) task::gemm(flow, T(1), A(i, k), A(k, j), T(1), A(i, j), guard);
        }
        for (Index j = 0; j < k; ++j) task::trsm(flow, Side::left, Uplo::lower, diag, T(1), A(k, k), A(k, j), guard);
        task::trtri(flow, diag, A(k, k), guard);
    }
}

template <Scalar T> void build::trtri(Flow& flow, Index nb, Uplo uplo, Diag diag, Index n, T* A, Index lda)
{
    const TileMatrix<T> L = lower_tiles(uplo, n, A, lda, nb);
    if (diag == Diag::unit) return invert_triangle(flow, diag, L, Guard{});
    task::find_zero(flow, L); // as LAPACK does before it touches anything
    invert_triangle(flow, diag, L, Guard{n});
}

template <Scalar T> void build::lauum(Flow& flow, Index nb, Uplo uplo, Index n, T* A, Index lda)
{
    multiply_by_itself(flow, lower_tiles(uplo, n, A, lda, nb), Guard{});
}

template <Scalar T> void build::potri(Flow& flow, Index nb, Uplo uplo, Index n, T* A, Index lda)
{
    trtri(flow, nb, uplo, Diag::non_unit, n, A, lda);
    multiply_by_itself(flow, lower_tiles(uplo, n, A, lda, nb), Guard{n});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void invert_triangle(Flow&, Diag, TileMatrix<T>, Guard);                                                            \
    template void build::trtri(Flow&, Index, Uplo, Diag, Index, T*, Index);                                                      \
    template void build::lauum(Flow&, Index, Uplo, Index, T*, Index);                                                            \
    template void build::potri(Flow&, Index, Uplo, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
