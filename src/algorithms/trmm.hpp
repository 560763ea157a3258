#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// B <- alpha A B, A m x m triangular, B m x n; the other triangle of A is not read, nor its diagonal when that is unit.
/// Transposed products are transposed views, B A is (A^T B^T)^T. With alpha = 0, B is set to zero and A not read. Returns once
/// the tasks are submitted. m^2 n flops (4 times that complex).
template <Scalar T> void trmm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B);

} // namespace trencadis
