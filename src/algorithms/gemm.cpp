#include "algorithms/gemm.hpp"

#include "kernels/tiles/tile_operations.hpp"

namespace trencadis {

template <Scalar T> void gemm(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C)
{
    const Index depth = alpha == T(0) ? 0 : A.col_tiles();
    for (Index j = 0; j < C.col_tiles(); ++j)
        for (Index i = 0; i < C.row_tiles(); ++i) {
            if (depth == 0) task::scale(flow, beta, C(i, j));
            for (Index l = 0; l < depth; ++l) task::gemm(flow, alpha, A(i, l), B(l, j), l == 0 ? beta : T(1), C(i, j));
        }
}

#define TRC_INSTANTIATE(T) template void gemm(Flow&, T, TileMatrix<T>, TileMatrix<T>, T, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
