#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/tiles/guard.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// B <- alpha A^-1 B, A m x m triangular, B m x n; the other triangle of A is not read, nor its diagonal when that is unit.
/// Transposed systems are transposed views, X A = B is A^T X^T = B^T. Few columns are solved for by one task. m^2 n flops (4
/// times that complex).
template <Scalar T> void trsm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B, Guard guard = {});

} // namespace trencadis
