#include "algorithms/column_cholesky.hpp"

#include "kernels/tiles/cholesky_column_operations.hpp"

#include <complex>

namespace trencadis {
namespace {

/// Block column k from its diagonal on.
template <Scalar T> task::TriangleColumn<T> column(TileMatrix<T> A, Index k)
{
    Tile<T> tile = A(k, k);
    tile.rows = A.rows() - A.first_row(k);
    return {tile, A.first_row(k)};
}

} // namespace

template <Scalar T> void potrf_columns(Flow& flow, TileMatrix<T> A)
{
    for (Index j = 0; j < A.tiles(); ++j) {
        for (Index k = 0; k < j; ++k) task::update(flow, column(A, k), column(A, j), Guard{A.first_row(k + 1)});
        task::factor(flow, column(A, j));
        task::solve(flow, column(A, j));
    }
}

template <Scalar T> void posv_columns(Flow& flow, TileMatrix<T> A, TileMatrix<T> B)
{
    potrf_columns(flow, A);
    if (A.tiles() == 0) return;
    const Guard guard{A.rows()};
    const task::TriangleColumn<T> last = column(A, A.tiles() - 1);
    for (Index j = 0; j < B.col_tiles(); ++j) {
        for (Index k = 0; k < A.tiles(); ++k) task::substitute(flow, true, column(A, k), B(0, j), guard, &last);
        for (Index k = A.tiles() - 1; k >= 0; --k) task::substitute(flow, false, column(A, k), B(0, j), guard);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void potrf_columns(Flow&, TileMatrix<T>);                                                                           \
    template void posv_columns(Flow&, TileMatrix<T>, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
