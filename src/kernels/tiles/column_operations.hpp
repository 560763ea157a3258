#pragma once
#include "graph/flow.hpp"
#include "kernels/tiles/guard.hpp"
#include "kernels/tiles/lu_operations.hpp"
#include "kernels/tiles/tile_grid.hpp"
#include "matrix/tile_matrix.hpp"

#include <cstdint>
#include <span>

/// Tile operations of LU by block columns, whose tiles are as high as the matrix: all of them run on devices that factor LU, and
/// on cores. Each function submits one task. Several columns that lie together where the task runs are computed as one matrix.
namespace trencadis::task {

/// Row interchanges of one panel: 32 bits each, from 1, counted from the panel's first row. Always used as a whole.
struct Interchanges {
    std::int32_t* data;
    Index count;
};

/// What a factored block column is to others: its panel begins at row `first` of the matrix.
template <Scalar T> struct Panel {
    Tile<T> column;
    Index first;
    Interchanges interchanges;
};

/// The panel <- its L U factors with partial pivoting. A pivot that is exactly zero is reported as its row of the matrix.
template <Scalar T> void factor(Flow& flow, const Panel<T>& panel, const TaskOptions& options = {});

/// Rows of the columns are exchanged as the panel's were, those of its triangle are solved for, and what is below is updated with
/// the rest of it. Malleable by columns. `after`: and not before that panel is factored.
template <Scalar T>
void update(Flow& flow, const Panel<T>& panel, const TileGrid<T>& columns, const TaskOptions& options = {}, Guard guard = {},
            const Interchanges* after = nullptr);

/// One step of the substitution with U: the columns' rows of the panel's triangle are solved for, and what is above is updated.
/// Malleable by columns.
template <Scalar T> void substitute(Flow& flow, const Panel<T>& panel, const TileGrid<T>& columns, Guard guard = {});

/// Block columns [begin, end) of A: each is exchanged by all panels behind it, of those that are given for A.
template <Scalar T>
void exchange_behind(Flow& flow, TileMatrix<T> A, Index begin, Index end, std::span<const Interchanges> panels);

/// `pivots` <- LAPACK's, as rows of the matrix from 1, of a panel that begins at row `first`.
void tell(Flow& flow, Interchanges interchanges, Index first, Pivots pivots);

} // namespace trencadis::task
