#pragma once
#include "algorithms/packed_slots.hpp"
#include "algorithms/recursive_panel.hpp"
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/tiles/packed_operations.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Tile LU, A = P L U in place, A m x n in a column-major matrix. 2/3 n^3 flops when square (4 times that complex), and what the
/// forms add. Each returns once the tasks are submitted. Views that are transposed are not served.
///
/// Of forms with partial pivoting `pivots` receives min(m, n) rows of A, from 1, as LAPACK's ipiv, and the flow's outcome the
/// first pivot that is exactly zero, whatever the timing; the factorization is completed all the same. Interchanges left of a
/// panel come last, those of all panels for a tile column in one sweep.

/// A panel is factored, then for each tile column right of it one task exchanges the rows and solves with the diagonal tile, and
/// updates go tile by tile. Right-looking; that the next panel comes first is left to priorities, and several cores share it as
/// `cut` says. PLASMA's form: Dongarra, Faverge, Ltaief, Luszczek 2014.
template <Scalar T> void getrf(Flow& flow, TileMatrix<T> A, Index* pivots, PanelCut cut = {});

/// The packed images of one factorization, of the three steps that may be in work at a time: 3 (m + n) nb numbers beyond the
/// matrix. Must outlive the flow's tasks.
template <Scalar T> class LuImages {
public:
    LuImages(Index m, Index n, Index nb, const ImagePlace& place = {});

    task::Image<T> left(Index i, Index k, Index rows, Index cols) const;  ///< of A_ik
    task::Image<T> right(Index j, Index k, Index cols, Index rows) const; ///< of A_kj
    task::ImageMemory<T> triangle(Index k) const;                         ///< of L_kk^T

private:
    PackedSlots<T> left_, right_, triangle_;
};

/// The same with our own gemm and trsm, and the getrf of `kernels` for panels: every tile of a panel is packed once, every tile
/// right of it by the task that solves for it, and all updates use these images.
template <Scalar T> void getrf_packed(Flow& flow, TileMatrix<T> A, const LuImages<T>& images, Index* pivots, PanelCut cut = {});

/// What the forms with LAPACK's pivots end with: the interchanges of each panel in the tile columns left of it.
template <Scalar T> void exchange_behind(Flow& flow, TileMatrix<T> A, Index* pivots);

/// B <- op(A)^-1 B with the factors and pivots that getrf left, A n x n; without pivots no rows were exchanged. 2 n^2 nrhs flops.
template <Scalar T> void getrs(Flow& flow, Op op, TileMatrix<T> A, const Index* pivots, TileMatrix<T> B, Guard guard = {});

/// getrs of a factorization in the same flow. As LAPACK's gesv, B is not touched when the flow's outcome has a zero pivot: the
/// substitutions begin when the last one is known.
template <Scalar T> void getrs_after(Flow& flow, TileMatrix<T> A, const Index* pivots, TileMatrix<T> B);

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
template <Scalar T> void getrf_kastors(Flow& flow, ColumnUpdates updates, TileMatrix<T> A, Index* pivots, char* tokens);

} // namespace trencadis
