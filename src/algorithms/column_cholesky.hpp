#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Cholesky of block columns that begin at their diagonal, A = L L^H, in place in the lower triangle of A (n x n); for
/// A = U^H U in the upper triangle give herm(A). Neither read nor written is what is above the diagonal; but tasks name
/// rectangles, the upper parts of diagonal tiles among them. Returns once the tasks are submitted; the flow's outcome receives
/// the order of the smallest leading minor that is not positive definite. n^3/3 flops (4 times that complex). Left-looking: what
/// is left of a column is finished, and can leave a device while others come to it (Kurzak, Ltaief, Dongarra, Badia 2010).
template <Scalar T> void potrf_columns(Flow& flow, TileMatrix<T> A);

/// The same, and B <- A^-1 B in the same flow, tiles of B as high as it is. As LAPACK's posv, B is not touched when A is not
/// positive definite.
template <Scalar T> void posv_columns(Flow& flow, TileMatrix<T> A, TileMatrix<T> B);

} // namespace trencadis
