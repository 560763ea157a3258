#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// A = L U in place without interchanges, A m x n: a tile on the diagonal, solves with its factors to the right and below,
/// updates. For matrices that need no pivots (diagonally dominant by rows or columns, positive definite); others have growth
/// without bound. 2/3 n^3 flops when square (4 times that complex). the flow's outcome receives the first pivot that is exactly
/// zero; its column is not divided, and the rest is factored all the same. Wilkinson 1961; Buttari, Langou, Kurzak, Dongarra 2009
/// for the tiles.
template <Scalar T> void getrf_nopiv(Flow& flow, TileMatrix<T> A);

} // namespace trencadis
