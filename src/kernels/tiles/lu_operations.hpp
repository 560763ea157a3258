#pragma once
#include "blas/factorizations/lu.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/guard.hpp"
#include "kernels/tiles/packed_operations.hpp"
#include "kernels/tiles/tile_grid.hpp"
#include "matrix/tile_matrix.hpp"

#include <span>

/// Tile operations of LU; each function submits one task. Updates are malleable by columns.
namespace trencadis::task {

/// Row interchanges of one factored tile or panel.
struct Pivots {
    Index* data;
    Index count;
};

/// What tstrf leaves beside its two tiles: the interchanges of `columns` rows, and the unit lower triangles of its inner blocks,
/// ib x columns. Always written and read together, hence one datum.
template <Scalar T> struct Elimination {
    void* data;
    Index columns, ib;

    /// Of so many columns, in whole cache lines.
    static std::size_t bytes(Index columns, Index ib)
    {
        return (std::size_t(columns) * (sizeof(Index) + std::size_t(ib) * sizeof(T)) + 63) / 64 * 64;
    }
};

// --- Incremental pivoting: only a tile and the one on top are looked at at a time ------------------------------------
// Inner blocks of `ib` columns: see kernels/tiles/factor_flops.hpp. With `last`, U's diagonal is final, and its first zero is
// reported as row `first` of the matrix and on.
/// A <- its L U factors with partial pivoting inside the tile.
template <Scalar T> void getrf(Flow& flow, Tile<T> A, Pivots pivots, Index first, bool last);

/// C <- L^-1 P C with the factors that getrf left in A, which has a column for each of C's rows at least.
template <Scalar T> void gessm(Flow& flow, Tile<T> A, Pivots pivots, Tile<T> C, Guard guard = {});

/// [U; A] <- L U factors of an upper triangle on top of a tile: U's upper triangle and A are replaced.
template <Scalar T> void tstrf(Flow& flow, Tile<T> U, Tile<T> A, Elimination<T> by, Index first, bool last);

/// [C; D] <- L^-1 P [C; D] with what tstrf left in A and `by`.
template <Scalar T> void ssssm(Flow& flow, Tile<T> A, Elimination<T> by, Tile<T> C, Tile<T> D, Guard guard = {});

// --- No pivoting -----------------------------------------------------------------------------------------------------
/// A <- its L U factors without interchanges; a pivot that is exactly zero is reported as row `first` of the matrix and on, and
/// its column is not divided.
template <Scalar T> void getrf_nopiv(Flow& flow, Tile<T> A, Index first);

/// B <- B U^-1 with the upper triangle of a factored tile; columns under a zero on its diagonal are not divided. Malleable by
/// rows.
template <Scalar T> void divide(Flow& flow, Tile<T> U, Tile<T> B);

// --- Panels: a tile column from the diagonal down is pivoted as a whole ----------------------------------------------
// The interchanges of the panels of A are pieces of one vector for all of its rows: panel k's
// begin at A.first_row(k), and name rows of A from 1, as LAPACK's.
/// A_k..,k <- its L U factors with partial pivoting, by one core. Tile row k of A must be the diagonal's. A pivot that is exactly
/// zero is reported as its row of A.
template <Scalar T> void getrf_panel(Flow& flow, TileMatrix<T> A, Index k, Pivots pivots);

/// A_k..,j <- P A_k..,j, then A_kj <- L_kk^-1 A_kj (KASTORS' and PLASMA's swptr). Malleable by columns.
template <Scalar T> void swptr(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots);
/// The same with our own kernels: `triangle` is L_kk^T as blas::pack_triangle makes it, and `image`, unless null, receives the
/// right image of A_kj.
template <Scalar T>
void swptr_packed(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, ImageMemory<T> triangle, ImageMemory<T> image);

/// A_k..,j <- P A_k..,j. Moves data only: no flops. `also`: further accesses that order the task.
template <Scalar T>
void laswp(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, std::initializer_list<Access> also = {});
/// B_j <- P B_j, or P^T B_j backward, the whole of tile column j.
template <Scalar T>
void laswp(Flow& flow, TileMatrix<T> B, Index j, std::span<const Pivots> pivots, blas::Interchanges order, Guard guard = {});
/// The same with all panels behind tile column j, one after the other: those of j + 1 and on.
template <Scalar T> void laswp_behind(Flow& flow, TileMatrix<T> A, Index j, std::span<const Pivots> panels);

// The same on parts of a panel that is cut otherwise than into square tiles: all tiles that a task touches are named, and each
// may lie anywhere. `first`: the row of the matrix that the part begins at. Interchanges may be in several pieces.
/// A column of tiles <- its L U factors.
template <Scalar T> void getrf_panel(Flow& flow, const TileGrid<T>& panel, Index first, Pivots pivots);
/// Rows of a column B of tiles: exchanged, then its first rows, as many as L has, <- L^-1 times them.
template <Scalar T>
void swptr(Flow& flow, const TileGrid<T>& L, const TileGrid<T>& B, Index first, std::span<const Pivots> pivots);
/// C <- C - A B.
template <Scalar T> void update(Flow& flow, const TileGrid<T>& A, const TileGrid<T>& B, const TileGrid<T>& C);
/// Rows of a column B of tiles: exchanged by all pivots. `also`: further accesses that order the task.
template <Scalar T>
void laswp(Flow& flow, const TileGrid<T>& B, Index first, std::span<const Pivots> pivots,
           blas::Interchanges order = blas::Interchanges::forward, Guard guard = {}, std::initializer_list<Access> also = {});
/// B <- A, where both have the same rows and columns and are cut otherwise.
template <Scalar T> void copy(Flow& flow, const TileGrid<T>& A, const TileGrid<T>& B);

} // namespace trencadis::task
