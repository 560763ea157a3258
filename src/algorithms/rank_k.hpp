#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Lower triangle of C <- alpha A A^T + beta C, C n x n, A n x k; the rest of C is neither read nor written. For the upper
/// triangle give trans(C). n (n + 1) k flops (4 times that complex).
template <Scalar T> void syrk(Flow& flow, T alpha, TileMatrix<T> A, T beta, TileMatrix<T> C);

/// Lower triangle of C <- alpha A A^H + beta C; as syrk, with herm(C) for the upper triangle. The diagonal becomes real.
template <Scalar T> void herk(Flow& flow, Real<T> alpha, TileMatrix<T> A, Real<T> beta, TileMatrix<T> C);

} // namespace trencadis
