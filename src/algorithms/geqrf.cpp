#include "algorithms/geqrf.hpp"

#include "kernels/qr_operations.hpp"

#include <algorithm>

namespace trencadis {

template <Scalar S> void geqrf(Flow& flow, Index ib, TileMatrix<S> A, TileMatrix<S> T)
{
    for (Index k = 0; k < std::min(A.row_tiles(), A.col_tiles()); ++k) {
        task::geqrt(flow, ib, A(k, k), T(k, k));
        for (Index j = k + 1; j < A.col_tiles(); ++j) task::unmqr(flow, ib, A(k, k), T(k, k), A(k, j));
        for (Index i = k + 1; i < A.row_tiles(); ++i) {
            task::tsqrt(flow, ib, A(k, k), A(i, k), T(i, k));
            for (Index j = k + 1; j < A.col_tiles(); ++j) task::tsmqr(flow, ib, A(i, k), T(i, k), A(k, j), A(i, j));
        }
    }
}

#define TRC_INSTANTIATE(S) template void geqrf(Flow&, Index, TileMatrix<S>, TileMatrix<S>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
