#include "algorithms/recursive_panel.hpp"

#include "algorithms/cutting.hpp"
#include "graph/task_context.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {
namespace {

/// A panel, m >= n, in blocks: its square top in tiles as high as they are wide, so that what is solved for is apart from what is
/// updated with it, and below that blocks of rows.
template <Scalar T> class PanelRecursion {
public:
    PanelRecursion(Flow& flow, Tile<T> panel, Index first, task::Pivots pivots, PanelCut cut)
        : flow_(flow), panel_(panel), first_(first), pivots_(pivots), cut_(cut), columns_(pieces(panel.cols, cut.columns)),
          units_(columns_ + pieces(panel.rows - panel.cols, cut.rows))
    {
    }
    void submit() { factor(0, columns_); }
    task::TileGrid<T> all() const { return grid(0, units_, 0, columns_); }

private:
    /// Columns of the blocks [begin, end).
    Index width(Index begin, Index end) const { return std::min(panel_.cols, end * cut_.columns) - begin * cut_.columns; }
    Index first_row(Index unit) const
    {
        return unit < columns_ ? unit * cut_.columns : panel_.cols + (unit - columns_) * cut_.rows;
    }
    Index end_row(Index unit) const
    {
        return unit < columns_ ? first_row(unit) + width(unit, unit + 1) : std::min(panel_.rows, first_row(unit) + cut_.rows);
    }
    Tile<T> tile(Index unit, Index c) const
    {
        return {panel_.data + first_row(unit) + c * cut_.columns * panel_.ld, end_row(unit) - first_row(unit), width(c, c + 1),
                panel_.ld};
    }
    task::Pivots pivots(Index c) const { return {pivots_.data + c * cut_.columns, width(c, c + 1)}; }

    /// Units [u0, u1) of columns [c0, c1).
    task::TileGrid<T> grid(Index u0, Index u1, Index c0, Index c1) const
    {
        task::TileGrid<T> tiles{{}, u1 - u0};
        for (Index c = c0; c < c1; ++c)
            for (Index u = u0; u < u1; ++u) tiles.tiles.push_back(tile(u, c));
        return tiles;
    }
    std::vector<task::Pivots> pivots(Index begin, Index end) const
    {
        std::vector<task::Pivots> pieces;
        for (Index c = begin; c < end; ++c) pieces.push_back(pivots(c));
        return pieces;
    }

    void factor(Index begin, Index end)
    {
        if (end - begin == 1) return leaf(begin);
        const Index middle = (begin + end + 1) / 2;
        factor(begin, middle);
        for (Index c = middle; c < end; ++c) solve(begin, middle, c);
        update(begin, middle, end, middle, columns_);
        for (Index u = columns_; u < units_; ++u) update(begin, middle, end, u, u + 1);
        factor(middle, end);
        for (Index c = begin; c < middle; ++c) exchange(c, middle, end);
    }
    void leaf(Index c) { task::getrf_panel(flow_, grid(c, units_, c, c + 1), first_ + first_row(c), pivots(c)); }
    void solve(Index begin, Index end, Index c)
    {
        task::swptr<T>(flow_, grid(begin, end, begin, end), grid(begin, units_, c, c + 1), first_ + first_row(begin),
                       pivots(begin, end));
    }
    /// Units [u0, u1) of columns [middle, end) by the columns [begin, middle).
    void update(Index begin, Index middle, Index end, Index u0, Index u1)
    {
        if (u0 >= u1) return;
        task::update(flow_, grid(u0, u1, begin, middle), grid(begin, middle, middle, end), grid(u0, u1, middle, end));
    }
    /// Rows of the blocks [begin, end) and below in column c, which is left of them.
    void exchange(Index c, Index begin, Index end)
    {
        task::laswp<T>(flow_, grid(begin, units_, c, c + 1), first_ + first_row(begin), pivots(begin, end));
    }

    Flow& flow_;
    const Tile<T> panel_;
    const Index first_;
    const task::Pivots pivots_;
    const PanelCut cut_;
    const Index columns_, units_;
};

/// The tiles of a panel in the order of their accesses, wherever they are.
template <Scalar T> task::TileGrid<T> tiles_at_hand(const TaskContext& context, task::GridPlace place)
{
    task::TileGrid<T> tiles{{}, place.down};
    for (int i = 0; i < place.down; ++i) {
        const Operand tile = context.operand(place.first + i);
        tiles.tiles.push_back({static_cast<T*>(tile.data), tile.rows, tile.cols, tile.ld});
    }
    return tiles;
}

template <Scalar T> struct SharedPanelArgs {
    Index m, n, first;
    task::GridPlace tiles;
    PanelCut cut;
    T* copy = nullptr; ///< where the tiles do not lie together; for the tasks inside, which have ended when it is given back

    Flops flops() const { return flops_per_fma<T> / 2 * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        const task::Pivots interchanges{task::data_of<Index>(context, 0), n};
        if (const Operand top = context.operand(tiles.first); top.is_name) {
            const Tile<T> named{static_cast<T*>(top.data), m, n, top.ld};
            return PanelRecursion<T>(context.flow(), named, first, interchanges, cut).submit();
        }
        const task::Whole<T> panel(context, tiles);
        const task::TileGrid<T> there = tiles_at_hand<T>(context, tiles);
        if (panel->data == there.tiles.front().data)
            return PanelRecursion<T>(context.flow(), {panel->data, m, n, panel->ld}, first, interchanges, cut).submit();
        copy = new T[std::size_t(m * n)];
        for (Index j = 0; j < n; ++j) std::copy_n(panel->data + j * panel->ld, m, copy + j * m);
        PanelRecursion<T> inside(context.flow(), {copy, m, n, m}, first, interchanges, cut);
        inside.submit();
        task::copy(context.flow(), inside.all(), there);
    }
    void release() { delete[] copy; }
};

} // namespace

template <Scalar T> void shared_panel(Flow& flow, TileMatrix<T> A, Index k, task::Pivots pivots, PanelCut cut)
{
    static constexpr Codelet codelet = [] {
        Codelet nested = codelet_of<SharedPanelArgs<T>>("getrf_panel_shared");
        nested.submits = true;
        nested.counted = false; // the tasks inside are
        return nested;
    }();
    const Index first = A.first_row(k), m = A.rows() - first, n = A(k, k).cols;
    const Flops flops = flops_per_fma<T> / 2 * kernel_flops::getrf(double(m), double(n));
    const bool others_idle = k == 0 || A.cols() - A.first_row(k) - n <= cut.beside;
    if (cut.columns == 0 || !others_idle || m < n || n <= cut.columns || flops < cut.worth)
        return task::getrf_panel(flow, A, k, pivots);
    std::vector<Access> accesses{task::write(pivots)};
    const task::TileGrid<T> tiles = task::column_of(A, k, k, A.row_tiles());
    task::add(accesses, &trencadis::readwrite<T>, tiles);
    flow.submit(codelet, SharedPanelArgs<T>{m, n, first, task::GridPlace::of(1, tiles), cut}, accesses);
}

#define TRC_INSTANTIATE(T) template void shared_panel(Flow&, TileMatrix<T>, Index, task::Pivots, PanelCut);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
