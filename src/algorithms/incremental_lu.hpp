#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/guard.hpp"
#include "kernels/tiles/lu_operations.hpp"
#include "matrix/tile_matrix.hpp"
#include "matrix/work_memory.hpp"

namespace trencadis {

/// What incremental pivoting leaves beside the matrix: the interchanges inside each tile on the diagonal, and for each tile below
/// it what tstrf leaves. n^2 ib / (2 nb) numbers for a square matrix, and its interchanges. Must outlive the flow's tasks.
template <Scalar T> class Eliminations {
public:
    Eliminations(Index m, Index n, Index nb, Index ib, const ImagePlace& place = {});

    /// Of the diagonal tile of step k, which is rows x cols.
    task::Pivots pivots(Index k, Index rows, Index cols) const;
    /// Of tile (i, k), i > k, which has `cols` columns.
    task::Elimination<T> operator()(Index i, Index k, Index cols) const;

private:
    std::size_t slot() const { return task::Elimination<T>::bytes(nb_, ib_); }
    std::size_t bytes() const;

    Index row_tiles_, steps_, nb_, ib_;
    WorkMemory memory_;
    char* begin_;
};

/// Incremental pivoting (getrf, gessm, tstrf, ssssm), A m x n: a tile meets one other at a time, so that a panel is no
/// bottleneck, nor need a tile column be anywhere as a whole; the price is a weaker pivoting, growth up to 4^(n-1) instead of
/// 2^(n-1), and 2/3 n^3 ib/(2 nb) flops more. The factors are no LAPACK's: U is in its upper triangle, what is below goes with
/// `by` and getrs_incremental. the flow's outcome receives the first diagonal entry of U that is exactly zero; the factorization
/// is completed all the same. The diagonal tile is declared whole, as published codes do: the first tstrf of a step waits for its
/// gessms. Quintana-Orti, van de Geijn 2008; Buttari, Langou, Kurzak, Dongarra 2009.
template <Scalar T> void getrf_incremental(Flow& flow, TileMatrix<T> A, const Eliminations<T>& by);

/// B <- A^-1 B with the factors that getrf_incremental left, A n x n, tiles of B as high as those of A. 2 n^2 nrhs (1 + ib/(2
/// nb)) flops. Tasks do nothing where the guard says so.
template <Scalar T>
void getrs_incremental(Flow& flow, TileMatrix<T> A, const Eliminations<T>& by, TileMatrix<T> B, Guard guard = {});

/// The same in one flow with getrf_incremental: B waits until it is known that U has no zero on its diagonal, and else stays.
template <Scalar T> void getrs_incremental_after(Flow& flow, TileMatrix<T> A, const Eliminations<T>& by, TileMatrix<T> B);

} // namespace trencadis
