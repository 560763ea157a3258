#pragma once
#include "blas/factorizations/lu.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_grid.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

/// Row interchanges of tiles that stand on one another.
namespace trencadis::task {

/// Exchanges rows of tiles where they lie, without bringing the tiles together: as `blas::laswp` does with one matrix.
template <Scalar T> class RowInterchanges {
public:
    /// Of one tile column, whose first row is row `first` of the matrix that the pivots speak of.
    RowInterchanges(const TaskContext& context, GridPlace column, Index first, const PivotList& pivots, blas::Interchanges order)
    {
        const std::vector<Piece> pieces = pieces_of(context, column);
        const Index count = pivots.count();
        all_.reserve(std::size_t(count));
        for (Index step = 0; step < count; ++step) {
            const Index i = order == blas::Interchanges::forward ? step : count - 1 - step;
            if (const Index with = pivots.data()[i] - 1 - first; with != i) all_.push_back({row(pieces, i), row(pieces, with)});
        }
    }
    void run(Index begin, Index end) const
    {
        constexpr int together = 4; // their accesses overlap, and each keeps what it exchanges in the cache
        for (; begin + together <= end; begin += together) exchange<together>(begin);
        for (; begin < end; ++begin) exchange<1>(begin);
    }

private:
    struct Row {
        T* data; ///< its first entry
        Index ld;
    };
    struct Piece {
        Index end; ///< the row behind its last
        Row top;
        Index begin;
    };
    static std::vector<Piece> pieces_of(const TaskContext& context, GridPlace column)
    {
        std::vector<Piece> pieces;
        Index begin = 0;
        for (Index i = 0; i < column.down; ++i) {
            const Operand tile = context.operand(int(column.first + i));
            pieces.push_back({begin + tile.rows, {static_cast<T*>(tile.data), tile.ld}, begin});
            begin += tile.rows;
        }
        return pieces;
    }
    static Row row(const std::vector<Piece>& pieces, Index i)
    {
        const auto in = std::ranges::upper_bound(pieces, i, {}, &Piece::end);
        return {in->top.data + (i - in->begin), in->top.ld};
    }
    template <int columns> void exchange(Index column) const
    {
        for (const auto& [a, b] : all_)
            for (Index c = column; c < column + columns; ++c) std::swap(a.data[c * a.ld], b.data[c * b.ld]);
    }

    std::vector<std::pair<Row, Row>> all_;
};

/// Exchanges rows of a tile column's columns [begin, end), as the pivots say for a matrix whose row `first` is its first.
template <Scalar T>
void exchange_rows(const TaskContext& context, GridPlace column, Index begin, Index end, Index first, const PivotList& pivots,
                   blas::Interchanges order = blas::Interchanges::forward)
{
    assert(column.across == 1);
    if (!Whole<T>::lies_together(context, column)) {
        RowInterchanges<T>(context, column, first, pivots, order).run(begin, end);
        return;
    }
    const Stored<T> top = stored<T>(context, column.first);
    blas::laswp(end - begin, top.data + begin * top.ld - first, top.ld, first, first + pivots.count(), pivots.data() - first,
                order);
}

/// The tiles of a tile column that hold its first `rows` rows.
inline GridPlace top_of(const TaskContext& context, GridPlace column, Index rows)
{
    assert(column.across == 1);
    GridPlace top{column.first, 0, 1};
    for (Index held = 0; held < rows; ++top.down) held += context.operand(int(top.first + top.down)).rows;
    return top;
}

} // namespace trencadis::task
