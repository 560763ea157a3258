#pragma once
#include "graph/flow.hpp"
#include "kernels/tiles/guard.hpp"
#include "matrix/tile_matrix.hpp"

/// Tile operations of Cholesky by block columns, each of which begins at its diagonal: all of them run on devices that factor,
/// and on cores. Each function submits one task. A column is seen as one of the lower triangle; where that is the Hermitian
/// transpose of what is stored, it is a block row there.
namespace trencadis::task {

/// A block column from its diagonal on, which is at row `first` of the matrix.
template <Scalar T> struct TriangleColumn {
    Tile<T> tile;
    Index first;

    Index order() const { return tile.cols; } ///< of the triangle that it begins with
    Index below() const { return tile.rows - tile.cols; }
};

/// The column's triangle <- its Cholesky factor L_kk. A bad pivot is reported as its row of the matrix. Does nothing once one is
/// known before this column.
template <Scalar T> void factor(Flow& flow, const TriangleColumn<T>& column);
/// What is below the triangle <- what is below times L_kk^-H. Malleable by rows.
template <Scalar T> void solve(Flow& flow, const TriangleColumn<T>& column);

/// C <- C - A A_C^H, A a factored column left of C, of which A_C are the rows of C's triangle. Malleable by rows.
template <Scalar T> void update(Flow& flow, const TriangleColumn<T>& A, const TriangleColumn<T>& C, Guard guard);

/// One step of the substitution with L, or with L^H: rows of B that belong to the column's triangle are solved for, those below
/// are updated with them, or they with those. B is as high as the matrix. Malleable by columns. `after`: and not before that
/// column is factored.
template <Scalar T>
void substitute(Flow& flow, bool forward, const TriangleColumn<T>& L, Tile<T> B, Guard guard,
                const TriangleColumn<T>* after = nullptr);

} // namespace trencadis::task
