#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// C <- alpha A B + beta C, C m x n, A m x k, B k x n. Transposed operands are transposed views. beta = 0 overwrites C without
/// reading it; with alpha = 0, A and B are not read. Returns once the tasks are submitted. 2 m n k flops (8 complex).
template <Scalar T> void gemm(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C);

} // namespace trencadis
