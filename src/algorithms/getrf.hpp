#pragma once
#include "graph/flow.hpp"
#include "kernels/provider.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Tile LU, A = P L U in place, A m x n. 2/3 n^3 flops when square (4 times that complex), and what the forms add. Each returns
/// once the tasks are submitted. The kernels that pivot do not exist yet: on engines that compute, the first such task throws
/// Error{missing_backend}; simulated engines account for the time. Views that are transposed are not served.

/// Row interchanges of all tiles: `nb` entries for each of `row_tiles` x ... of them, by columns.
struct PivotGrid {
    Index* data;
    Index nb, row_tiles;
    Index* operator()(Index i, Index k) const { return data + (i + k * row_tiles) * nb; }
};

/// Incremental pivoting (getrf, gessm, tstrf, ssssm): a tile meets one other at a time, so that a panel is no bottleneck; the price
/// is a weaker pivoting and 2/3 n^3 ib/(2 nb) flops more. L holds ib x nb for each tile of A (rows: ib for each tile row of A),
/// pivots one vector for each. The diagonal tile is declared whole, as published codes do: the first tstrf of a step waits
/// for its gessms. Quintana-Orti, van de Geijn 2008; Buttari, Langou, Kurzak, Dongarra 2009.
template <Scalar T> void getrf_incremental(Flow& flow, Index ib, TileMatrix<T> A, TileMatrix<T> L, PivotGrid pivots);

/// How KASTORS orders the updates of one tile column in one step.
enum class ColumnUpdates {
    queued,     ///< each declares the column's head readwrite: one after the other
    concurrent, ///< each declares it concurrent_write: unordered among themselves, all before the next panel
};

/// KASTORS' dgetrf: a panel is factored by one task, then for each tile column right of it one task interchanges its rows and
/// solves with the diagonal tile (swptr), and gemm updates each tile. Panels and interchanges name only the head of a column in
/// KASTORS, hence the updates name it as well. Here they name all tiles they touch, which gives the same order and tells how
/// much data they need; what orders alone has no size. `tokens`: one byte for each step, named only; the updates of a
/// step read it, the interchanges left of the panel, which come last, write it. Virouleau et al. 2014; Lima et al. 2019.
template <Scalar T> void getrf_kastors(Flow& flow, ColumnUpdates updates, TileMatrix<T> A, PivotGrid pivots, char* tokens);

/// PLASMA's panel form: the panel is factored by as many cores as join it, then laswp, trsm and gemm, each on the tiles it touches.
/// Dongarra, Faverge, Ltaief, Luszczek 2014.
template <Scalar T> void getrf_panel(Flow& flow, TileMatrix<T> A, PivotGrid pivots);

} // namespace trencadis
