#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// C <- alpha A B + beta C, A m x m symmetric, B and C m x n. Only the lower triangle of A is read: for a stored upper one give
/// trans(A). A B on the right of A is the transposed product: give trans(B) and trans(C). beta = 0 overwrites C without
/// reading it; with alpha = 0, A and B are not read. Returns once the tasks are submitted. 2 m^2 n flops (8 complex).
template <Scalar T> void symm(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C);

/// The same for a Hermitian A, whose diagonal counts as real: herm(A) for a stored upper triangle; on the right herm(B), herm(C)
/// and the conjugates of alpha and beta.
template <Scalar T> void hemm(Flow& flow, T alpha, TileMatrix<T> A, TileMatrix<T> B, T beta, TileMatrix<T> C);

} // namespace trencadis
