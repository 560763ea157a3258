#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/tournament_operations.hpp"
#include "matrix/work_memory.hpp"

namespace trencadis {

/// Where the candidates of a panel lie: about m nb / 4 numbers, used by all panels of one factorization; and, where a grid of
/// processes holds the matrix, rows on their way from one to another. Must outlive the flow's tasks.
template <Scalar T> class TournamentRounds {
public:
    /// Of this matrix. `group`: tile rows of which one task chooses the candidates. The more, the nearer to partial pivoting, and
    /// the longer one core is alone.
    explicit TournamentRounds(TileMatrix<T> A, const ImagePlace& place = {}, Index group = 4);

    Index group() const { return group_; }
    task::Candidates<T> operator()(Index place) const; ///< of a group, the first one that of the diagonal
    /// How many processes hold a tile column, each every so-manieth tile.
    Index holders() const { return holders_; }
    Tile<T> chosen(Index other, Index j, Index cols) const; ///< of column j: rows for the top that another holder has
    Tile<T> displaced(Index j, Index cols) const;           ///< those that were at the top

private:
    Tile<T> tile(Index number, Index cols) const;

    Index group_, nb_, holders_, groups_;
    WorkMemory memory_;
    char* begin_;
};

/// A = P L U in place, A m x n in a column-major matrix, with pivots by tournament: from each group of tile rows of a panel
/// partial pivoting chooses as many rows as the panel has columns, and two such choices play each other until one is left. These
/// rows go to the top, and the panel is factored without further interchanges, by tiles. So no task needs the whole panel but the
/// one that moves the rows. A panel of one group is factored with partial pivoting.
///
/// Where a grid of processes holds the matrix, each chooses among its own rows, and a panel of one tile alone is factored with
/// partial pivoting. A process sends nb rows of a tile column for the top of it, and gets those that were there.
///
/// `pivots` and the flow's outcome as getrf has them, and getrs takes the factors; entries of L may be larger than 1. Growth is
/// in practice about that of partial pivoting, its bound worse: 2^(n (levels + 1) - 1). About 5/3 n^2 nb flops more than getrf.
/// Grigori, Demmel, Xiang 2011.
template <Scalar T> void getrf_tournament(Flow& flow, TileMatrix<T> A, const TournamentRounds<T>& rounds, Index* pivots);

} // namespace trencadis
