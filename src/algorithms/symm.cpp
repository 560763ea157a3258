#include "algorithms/symm.hpp"

#include "kernels/tiles/tile_operations.hpp"

namespace trencadis {
namespace {

/// Tile (i, j) of C gathers a row of A, which is stored up to the diagonal and mirrored by `f` after it.
template <Scalar T, class Diagonal>
void product(Flow& flow, Op f, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C, Diagonal&& diagonal)
{
    const Index depth = alpha == T(0) ? 0 : A.tiles();
    for (Index j = 0; j < C.col_tiles(); ++j)
        for (Index i = 0; i < C.row_tiles(); ++i) {
            if (depth == 0) task::scale(flow, beta, C(i, j));
            for (Index l = 0; l < depth; ++l) {
                const T factor = l == 0 ? beta : T(1);
                if (l == i) diagonal(A(i, i), B(i, j), factor, C(i, j));
                else task::gemm(flow, alpha, l < i ? A(i, l) : A(l, i).with(f), B(l, j), factor, C(i, j));
            }
        }
}

} // namespace

template <Scalar T> void symm(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C)
{
    product(flow, Op::trans, alpha, A, B, beta, C,
            [&](Tile<T> a, Tile<T> b, T factor, Tile<T> c) { task::symm(flow, alpha, a, b, factor, c); });
}

template <Scalar T> void hemm(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C)
{
    product(flow, herm_op<T>, alpha, A, B, beta, C,
            [&](Tile<T> a, Tile<T> b, T factor, Tile<T> c) { task::hemm(flow, alpha, a, b, factor, c); });
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void symm(Flow&, T, TileMatrix<T>, TileMatrix<T>, T, TileMatrix<T>);                                                \
    template void hemm(Flow&, T, TileMatrix<T>, TileMatrix<T>, T, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
