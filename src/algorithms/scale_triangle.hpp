#pragma once
#include "kernels/tiles/tile_operations.hpp"

namespace trencadis {

/// Lower triangle of C <- beta C: what rank updates with nothing to add do. A `hermitian` diagonal becomes real.
template <Scalar T> void scale_triangle(Flow& flow, T beta, TileMatrix<T> C, bool hermitian)
{
    for (Index j = 0; j < C.tiles(); ++j) {
        task::scale_lower(flow, beta, C(j, j), hermitian);
        for (Index i = j + 1; i < C.tiles(); ++i) task::scale(flow, beta, C(i, j));
    }
}

} // namespace trencadis
