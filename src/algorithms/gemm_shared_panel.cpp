#include "algorithms/gemm_shared_panel.hpp"

#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"

namespace trencadis {
namespace {

/// A copy: no operations, the time that its data take to come and go.
template <Scalar T> struct PackArgs {
};

} // namespace

template <Scalar T> void gemm_shared_panel(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, TileMatrix<T> P, TileMatrix<T> C)
{
    static constexpr Codelet pack = codelet_of<PackArgs<T>>("pack", "panel");
    const auto packed = [&](Index l, Index j) {
        Tile<T> tile = P(0, j);
        tile.rows = B(l, j).rows; // the last row of tiles may be lower
        return tile;
    };
    for (Index l = 0; l < A.col_tiles(); ++l) {
        if (l > 0) flow.wait(); // the barrier
        for (Index j = 0; j < B.col_tiles(); ++j) flow.submit(pack, PackArgs<T>{}, {read(B(l, j)), write(packed(l, j))});
        for (Index j = 0; j < C.col_tiles(); ++j)
            for (Index i = 0; i < C.row_tiles(); ++i) task::gemm(flow, T(1), A(i, l), packed(l, j), T(1), C(i, j));
    }
}

#define TRC_INSTANTIATE(T) template void gemm_shared_panel(Flow&, TileMatrix<T>, TileMatrix<T>, TileMatrix<T>, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
