#include "algorithms/unpivoted_lu.hpp"

#include "kernels/tiles/lu_operations.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <algorithm>
#include <complex>

namespace trencadis {
namespace {

/// The square that L's triangle is in: less than the tile where that is the last of a wide matrix.
template <Scalar T> Tile<T> top(Tile<T> A)
{
    A.cols = std::min(A.rows, A.cols);
    return A;
}

} // namespace

template <Scalar T> void getrf_nopiv(Flow& flow, TileMatrix<T> A)
{
    for (Index k = 0; k < std::min(A.row_tiles(), A.col_tiles()); ++k) {
        task::getrf_nopiv(flow, A(k, k), A.first_row(k));
        for (Index i = k + 1; i < A.row_tiles(); ++i) task::divide(flow, A(k, k), A(i, k));
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::trsm(flow, Side::left, Uplo::lower, Diag::unit, T(1), top(A(k, k)), A(k, j));
            for (Index i = k + 1; i < A.row_tiles(); ++i) task::gemm(flow, T(-1), A(i, k), A(k, j), T(1), A(i, j));
        }
    }
}

#define TRC_INSTANTIATE(T) template void getrf_nopiv(Flow&, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
