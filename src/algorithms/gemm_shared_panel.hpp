#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// C <- C + A B as one product for all threads: a row of tiles of B is packed into P, which all read while they update C, and
/// nobody begins with the next row before all have done with this one. A baseline, to show what memory nodes cost it: `pack` can
/// only be simulated. P: one row of tiles as wide as B. Returns when the last row is submitted. 2 m n k flops (8 complex). The
/// five loops of Goto and van de Geijn 2008 with Loop 4 (k) outermost and one packed panel of B for all threads.
template <Scalar T> void gemm_shared_panel(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, TileMatrix<T> P, TileMatrix<T> C);

} // namespace trencadis
