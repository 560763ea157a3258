#pragma once
#include "algorithms/signatures.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/guard.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Lower triangle of A <- its inverse, in square tiles; the rest is neither read nor written, and a zero on the diagonal gives
/// infinities.
template <Scalar T> void invert_triangle(Flow& flow, Diag diag, TileMatrix<T> A, Guard guard = {});

} // namespace trencadis

/// The builders of routines that are one algorithm on the caller's matrices: a routine's arguments in its signature's order, cut
/// into tiles nb x nb and submitted. Sessions run what they submit on workers, faces on the calling thread alone, simulations in
/// virtual time; arguments have been checked. The flow's outcome receives what LAPACK's info does; of the matrices they read
/// nothing, their tasks do.
namespace trencadis::build {

#define TRC_DECLARE(routine, ...) template <Scalar T> void routine(Flow& flow, Index nb, TRC_ARGUMENTS_##routine(TRC_TYPED));
TRC_TILE_ROUTINES(TRC_DECLARE)
#undef TRC_DECLARE

} // namespace trencadis::build
