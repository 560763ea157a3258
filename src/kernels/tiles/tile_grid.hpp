#pragma once
#include "graph/task_context.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

/// Tiles that a task uses as one matrix.
namespace trencadis::task {

/// Tiles as a task names them, one column of tiles after the other, `down` in each.
template <Scalar T> struct TileGrid {
    std::vector<Tile<T>> tiles;
    Index down = 1;

    Index across() const { return Index(tiles.size()) / down; }
    Index rows() const
    {
        Index sum = 0;
        for (Index i = 0; i < down; ++i) sum += tiles[std::size_t(i)].rows;
        return sum;
    }
    Index cols() const
    {
        Index sum = 0;
        for (std::size_t j = 0; j < tiles.size(); j += std::size_t(down)) sum += tiles[j].cols;
        return sum;
    }
};
/// Tiles [first, last) of tile column j.
template <Scalar T> TileGrid<T> column_of(TileMatrix<T> A, Index j, Index first, Index last)
{
    TileGrid<T> grid{{}, std::max<Index>(1, last - first)};
    for (Index i = first; i < last; ++i) grid.tiles.push_back(A(i, j));
    return grid;
}
/// Tiles [first, last) of tile row i.
template <Scalar T> TileGrid<T> row_of(TileMatrix<T> A, Index i, Index first, Index last)
{
    TileGrid<T> grid;
    for (Index j = first; j < last; ++j) grid.tiles.push_back(A(i, j));
    return grid;
}
template <Scalar T> void add(std::vector<Access>& to, Access (*mode)(Tile<T>), const TileGrid<T>& grid)
{
    for (const Tile<T>& tile : grid.tiles) to.push_back(mode(tile));
}

/// How a running task finds such a grid: the number of its first access, and how many tiles there are.
struct GridPlace {
    std::int32_t first, down, across;

    template <Scalar T> static GridPlace of(std::size_t first, const TileGrid<T>& grid)
    {
        return {std::int32_t(first), std::int32_t(grid.down), std::int32_t(grid.across())};
    }
};

/// The grid as one matrix in memory that the core can use: where the tiles are, if they lie there as they do in one matrix, as
/// at home;
/// else a copy, of which `store` brings back what has become of it.
template <class T> class Whole {
    using Number = std::remove_const_t<T>;

public:
    /// All of it, or its columns [begin, end).
    Whole(const TaskContext& context, GridPlace grid, Index begin = 0, Index end = -1)
        : context_(context), grid_(grid), begin_(begin), end_(end)
    {
        const Operand corner = tile(0, 0);
        if (end_ < 0) {
            end_ = 0;
            for (Index j = 0; j < grid_.across; ++j) end_ += tile(0, j).cols;
        }
        if (lies_together(context, grid)) {
            at_ = {static_cast<T*>(corner.data) + begin_ * corner.ld, corner.ld};
            return;
        }
        Index rows = 0;
        for (Index i = 0; i < grid_.down; ++i) rows += tile(i, 0).rows;
        rows = std::max<Index>(rows, 1);
        copy_ = std::make_unique_for_overwrite<Number[]>(std::size_t(rows * (end_ - begin_)));
        at_ = {copy_.get(), rows};
        each_column([](Number* tile, Number* here, Index rows_of) { std::copy_n(tile, rows_of, here); });
    }
    /// Do the tiles lie in memory as they do in one matrix?
    static bool lies_together(const TaskContext& context, GridPlace grid)
    {
        const auto tile = [&](Index i, Index j) { return context.operand(int(grid.first + i + j * grid.down)); };
        const Operand corner = tile(0, 0);
        const char* const origin = static_cast<const char*>(corner.data);
        Index column = 0;
        for (Index j = 0; j < grid.across; ++j) {
            Index row = 0;
            for (Index i = 0; i < grid.down; ++i) {
                const Operand one = tile(i, j);
                if (one.ld != corner.ld || one.data != origin + (row + column * corner.ld) * Index(sizeof(T))) return false;
                row += one.rows;
            }
            column += tile(0, j).cols;
        }
        return true;
    }
    const Stored<T>& operator*() const { return at_; }
    const Stored<T>* operator->() const { return &at_; }
    bool is_copy() const { return copy_ != nullptr; }
    void store() const
    {
        if (copy_) each_column([](Number* tile, Number* here, Index rows_of) { std::copy_n(here, rows_of, tile); });
    }

private:
    Operand tile(Index i, Index j) const { return context_.operand(int(grid_.first + i + j * grid_.down)); }
    /// Calls visit(in the tile, in the copy, rows) for each column of each tile.
    template <class Visit> void each_column(const Visit& visit) const
    {
        for (Index j = 0, column = 0; j < grid_.across; column += tile(0, j++).cols)
            for (Index i = 0, row = 0; i < grid_.down; row += tile(i++, j).rows) {
                const Operand one = tile(i, j);
                const Index first = std::max(begin_ - column, Index(0)), last = std::min(end_ - column, Index(one.cols));
                for (Index c = first; c < last; ++c)
                    visit(static_cast<Number*>(one.data) + c * one.ld, copy_.get() + row + (column + c - begin_) * at_.ld,
                          one.rows);
            }
    }

    const TaskContext& context_;
    const GridPlace grid_;
    Index begin_, end_;
    Stored<T> at_;
    std::unique_ptr<Number[]> copy_;
};

} // namespace trencadis::task
