#include "algorithms/rank_2k.hpp"

#include "algorithms/scale_triangle.hpp"
#include "matrix/conjugate.hpp"

namespace trencadis {
namespace {

/// Both products of one tile below the diagonal, `f` being the mirror of C.
template <Scalar T>
void both(Flow& flow, Op f, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C, Index i, Index j)
{
    for (Index l = 0; l < A.col_tiles(); ++l) {
        task::gemm(flow, alpha, A(i, l), B(j, l).with(f), l == 0 ? beta : T(1), C(i, j));
        task::gemm(flow, seen_through(f, alpha), B(i, l), A(j, l).with(f), T(1), C(i, j));
    }
}

} // namespace

template <Scalar T> void syr2k(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C)
{
    if (alpha == T(0) || A.col_tiles() == 0) return scale_triangle(flow, beta, C, false);
    for (Index j = 0; j < C.tiles(); ++j) {
        for (Index l = 0; l < A.col_tiles(); ++l) task::syr2k(flow, alpha, A(j, l), B(j, l), l == 0 ? beta : T(1), C(j, j));
        for (Index i = j + 1; i < C.tiles(); ++i) both(flow, Op::trans, alpha, A, B, beta, C, i, j);
    }
}

template <Scalar T> void her2k(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, Real<T> beta, TileMatrix<T> C)
{
    if (alpha == T(0) || A.col_tiles() == 0) return scale_triangle(flow, T(beta), C, true);
    for (Index j = 0; j < C.tiles(); ++j) {
        for (Index l = 0; l < A.col_tiles(); ++l) task::her2k(flow, alpha, A(j, l), B(j, l), l == 0 ? beta : Real<T>(1), C(j, j));
        for (Index i = j + 1; i < C.tiles(); ++i) both(flow, herm_op<T>, alpha, A, B, T(beta), C, i, j);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syr2k(Flow&, T, TileMatrix<T>, TileMatrix<T>, T, TileMatrix<T>);                                               \
    template void her2k(Flow&, T, TileMatrix<T>, TileMatrix<T>, Real<T>, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
