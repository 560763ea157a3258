#include "kernels/tiles/tile_operations.hpp"
#include "kernels/tiles/triangular_args.hpp"

#include <vector>

namespace trencadis::task {

template <Scalar T> void trsm(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<TriangularArgs<T, Triangular::solve>>("trsm");
    flow.submit(codelet, triangular_args<T, Triangular::solve>(side, uplo, diag, alpha, A, B, guard), {read(A), readwrite(B)});
}

template <Scalar T> void trsm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<TriangularArgs<T, Triangular::solve>>("trsm", "tiles");
    std::vector<Access> accesses{read(A(0, 0)), readwrite(B(0, 0))};
    for (Index j = 0; j < A.tiles(); ++j) {
        if (j > 0) accesses.push_back(readwrite(B(j, 0)));
        const Index first = uplo == Uplo::lower ? j : 0, last = uplo == Uplo::lower ? A.tiles() : j + 1;
        for (Index i = first; i < last; ++i)
            if (i + j > 0) accesses.push_back(read(A(i, j)));
    }
    const auto arguments = triangular_args<T, Triangular::solve>(Side::left, uplo, diag, alpha, A.whole(), B.whole(), guard);
    flow.submit(codelet, arguments, accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void trsm(Flow&, Side, Uplo, Diag, T, Tile<T>, Tile<T>, Guard);                                                     \
    template void trsm(Flow&, Uplo, Diag, T, TileMatrix<T>, TileMatrix<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
