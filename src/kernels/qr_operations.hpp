#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

/// Tile operations of QR; each function submits one task. As those of LU (kernels/lu_operations.hpp): costs and accesses, no
/// kernels yet. R and V are the upper and the lower part of a factored tile, T the triangular factors (ib x nb) of its
/// reflectors. Updates are malleable by columns.
namespace trencadis::task {

/// A <- V, R with A = Q R; T is written.
template <Scalar S> void geqrt(Flow& flow, Index ib, Tile<S> A, Tile<S> T);

/// C <- Q^H C with the reflectors that geqrt left in A and T.
template <Scalar S> void unmqr(Flow& flow, Index ib, Tile<S> A, Tile<S> T, Tile<S> C);

/// [R; A] <- R, V of an upper triangle on top of a tile: R's upper triangle and A are replaced, T is written.
template <Scalar S> void tsqrt(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T);

/// [C; D] <- Q^H [C; D] with the reflectors that tsqrt left in A and T.
template <Scalar S> void tsmqr(Flow& flow, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D);

} // namespace trencadis::task
