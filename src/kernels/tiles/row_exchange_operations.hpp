#pragma once
#include "kernels/tiles/tournament_operations.hpp"

/// Row interchanges of LU where a tile column has several holders: each of them reads and writes its own tiles alone, and rows go
/// between them in work tiles of nb x nb. Each function submits one task.
namespace trencadis::task {

/// The tiles of column j that one process holds, every `stride`th from tile row `first` on.
template <Scalar T> struct ColumnPart {
    TileMatrix<T> A;
    Index j, first, stride;

    TileGrid<T> tiles(Index from, Index most) const
    {
        TileGrid<T> grid{{}, 0};
        for (Index i = from; i < A.row_tiles() && grid.down < most; i += stride, ++grid.down) grid.tiles.push_back(A(i, j));
        return grid;
    }
    TileGrid<T> tiles() const { return tiles(first, A.row_tiles()); }
};

/// `to` <- the rows of these tiles of a part, every stride-th from tile row `from` on, that partial pivoting among them chooses.
template <Scalar T> void tournament(Flow& flow, const ColumnPart<T>& part, Index from, Index tiles, Candidates<T> to);

/// The winners go to the top of the panel, as `pivots` then says in LAPACK's form, where the part has them; its tile on the
/// diagonal <- its L U factors without interchanges. `displaced` <- the rows that were at the top.
template <Scalar T>
void getrf_nopiv(Flow& flow, const ColumnPart<T>& part, Candidates<T> winners, Pivots pivots, Tile<T> displaced);

/// `chosen` <- those rows of the part that the pivots bring to the top, each in its place there.
template <Scalar T> void gather_rows(Flow& flow, const ColumnPart<T>& part, Index first, Pivots pivots, Tile<T> chosen);

/// The first rows of a part that begins at the top <- L^-1 times the rows that the pivots bring there, which the part has itself
/// or `chosen` of the others, in the order of the parts; `displaced` <- the rows that were there.
template <Scalar T>
void swptr(Flow& flow, Tile<T> L, const ColumnPart<T>& part, Pivots pivots, std::span<const Tile<T>> chosen, Tile<T> displaced);

/// The part's rows that were brought to the top <- those of the rows that were there which go to their places.
template <Scalar T> void scatter_rows(Flow& flow, Tile<T> displaced, Index first, Pivots pivots, const ColumnPart<T>& part);

} // namespace trencadis::task
