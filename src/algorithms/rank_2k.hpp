#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Lower triangle of C <- alpha A B^T + alpha B A^T + beta C, C n x n, A and B n x k; the rest of C is neither read nor written.
/// For the upper triangle give trans(C). 2 n (n + 1) k flops (4 times that complex).
template <Scalar T> void syr2k(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C);

/// Lower triangle of C <- alpha A B^H + conj(alpha) B A^H + beta C; as syr2k, with herm(C) for the upper triangle. The diagonal
/// becomes real.
template <Scalar T> void her2k(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, Real<T> beta, TileMatrix<T> C);

} // namespace trencadis
