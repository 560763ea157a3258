#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

/// Tile operations of QR; each function submits one task. R and V are the upper and the lower part of a factored tile, T the
/// triangular factors (ib x nb) of its reflectors. Updates are malleable by columns; they apply Q^H where `op` is a transposition
/// (of complex numbers the conjugate one), else Q.
namespace trencadis::task {

/// A <- V, R with A = Q R; T is written. Where `V` is a tile, it receives a copy of V, for those that apply Q while others
/// change R in A.
template <Scalar S> void geqrt(Flow& flow, Index ib, Tile<S> A, Tile<S> T, Tile<S> V = {});

/// C <- op(Q) C with the reflectors V that geqrt left, in its tile or as a copy, and T.
template <Scalar S> void unmqr(Flow& flow, Op op, Index ib, Tile<S> V, Tile<S> T, Tile<S> C);

/// [R; A] <- R, V of an upper triangle on top of a tile: R's upper triangle and A are replaced, T is written.
template <Scalar S> void tsqrt(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T);

/// [C; D] <- op(Q) [C; D] with the reflectors that tsqrt left in A and T.
template <Scalar S> void tsmqr(Flow& flow, Op op, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D);

/// [R; A] <- R, V of two upper triangles: both are replaced, and nothing below them is touched; T is written.
template <Scalar S> void ttqrt(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T);

/// [C; D] <- op(Q) [C; D] with the reflectors that ttqrt left in A and T.
template <Scalar S> void ttmqr(Flow& flow, Op op, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D);

} // namespace trencadis::task
