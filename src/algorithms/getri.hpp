#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// A <- A^-1 from the factors and pivots that getrf left, n x n in place in a column-major matrix, square tiles; U has no zero on
/// its diagonal. W is memory for two tile columns, 2 nb columns of n rows. inv(U) first, then X L = inv(U) from the last tile
/// column to the first, whose part of L waits in W, and the columns are exchanged. Returns once the tasks are submitted. 4/3 n^3
/// flops (4 times that complex). As LAPACK's getri; Du Croz, Higham 1992, method B.
template <Scalar T> void getri(Flow& flow, TileMatrix<T> A, const Index* pivots, TileMatrix<T> W);

} // namespace trencadis
