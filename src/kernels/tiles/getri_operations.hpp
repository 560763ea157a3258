#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/tiles/lu_operations.hpp"
#include "matrix/tile_matrix.hpp"

#include <span>

namespace trencadis {

/// A <- A^-1 from the factors and pivots that getrf left, U without a zero on its diagonal; W: n x n numbers. 4/3 n^3 flops.
template <Scalar T> void getri(const KernelProvider& kernels, Index n, T* A, Index lda, const Index* pivots, T* W);

/// Columns i and pivots[i] - 1 of the m x n matrix A are exchanged, from the last to the first.
template <Scalar T> void exchange_columns(Index m, Index n, T* A, Index lda, const Index* pivots);

} // namespace trencadis

/// Tile operations of an inverse; each function submits one task.
namespace trencadis::task {

/// W <- A and A <- 0; of a tile on the diagonal (`strict`) only what lies below the diagonal.
template <Scalar T> void move_lower(Flow& flow, Tile<T> A, Tile<T> W, bool strict);

/// Columns of tile row i of A are exchanged by all pivots, from the last to the first.
template <Scalar T> void exchange_columns(Flow& flow, TileMatrix<T> A, Index i, Pivots pivots);

} // namespace trencadis::task
