#include "algorithms/trmm.hpp"

#include "kernels/tiles/tile_operations.hpp"

namespace trencadis {

template <Scalar T> void trmm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B)
{
    const Index last = A.tiles() - 1;
    // Counted away from the end of B that is finished first: tile row s needs the rows after it as they were.
    const auto row = [&](Index s) { return uplo == Uplo::lower ? last - s : s; };
    for (Index s = 0; s <= last; ++s)
        for (Index j = 0; j < B.col_tiles(); ++j) {
            const Index i = row(s);
            if (alpha == T(0)) {
                task::scale(flow, T(0), B(i, j));
                continue;
            }
            task::trmm(flow, Side::left, uplo, diag, alpha, A(i, i), B(i, j));
            // The nearest row first: it is the next to be overwritten.
            for (Index t = s + 1; t <= last; ++t) task::gemm(flow, alpha, A(i, row(t)), B(row(t), j), T(1), B(i, j));
        }
}

#define TRC_INSTANTIATE(T) template void trmm(Flow&, Uplo, Diag, T, TileMatrix<T>, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
