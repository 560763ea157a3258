#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Tile QR with a flat tree (geqrt, unmqr, tsqrt, tsmqr), A = Q R in place, A m x n: R in the upper triangle, the reflectors below;
/// the factors T of their blocks, ib x nb for each tile of A, in T (ib rows for each tile row of A). 4/3 n^3 flops when square
/// (4 times that complex), and 4/3 n^3 ib/(4 nb) more for the factors T. Returns once the tasks are submitted. The kernels do not
/// exist yet: on engines that compute, the first task throws Error{missing_backend}; simulated engines account for the time. The
/// diagonal tile is declared whole, as published codes do: the first tsqrt of a step waits for its unmqrs. Transposed views are
/// not served. Buttari, Langou, Kurzak, Dongarra 2009.
template <Scalar S> void geqrf(Flow& flow, Index ib, TileMatrix<S> A, TileMatrix<S> T);

} // namespace trencadis
