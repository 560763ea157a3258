#pragma once
#include "kernels/tiles/lu_operations.hpp"

/// Tile operations of LU with tournament pivoting; each function submits one task.
namespace trencadis::task {

/// Rows of a panel that may become pivots: their numbers in the matrix and their entries. One datum: at most nb numbers of rows,
/// then nb columns of at most nb entries.
template <Scalar T> struct Candidates {
    void* data;
    Index nb;

    /// Whole cache lines.
    static std::size_t bytes(Index nb)
    {
        return (std::size_t(nb) * (sizeof(Index) + std::size_t(nb) * sizeof(T)) + 63) / 64 * 64;
    }
};

/// `to` <- the rows of the `tiles` tiles from tile row `first` of tile column k, an A in a column-major matrix in place, that
/// partial pivoting among them chooses.
template <Scalar T> void tournament(Flow& flow, TileMatrix<T> A, Index k, Index first, Index tiles, Candidates<T> to);
/// `winners` <- those of the rows of both that partial pivoting among them chooses, at most `columns`.
template <Scalar T>
void tournament(Flow& flow, Index columns, Candidates<T> winners, Index rows, Candidates<T> others, Index other_rows);

/// The winners, as many as tile column k has columns, go to the top of A_k..,k, as `pivots` then says in LAPACK's form; the tile
/// on the diagonal <- its L U factors without interchanges.
template <Scalar T> void getrf_nopiv(Flow& flow, TileMatrix<T> A, Index k, Candidates<T> winners, Pivots pivots);

} // namespace trencadis::task
