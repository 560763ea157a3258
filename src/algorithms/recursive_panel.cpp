#include "algorithms/recursive_panel.hpp"

#include "algorithms/cutting.hpp"
#include "graph/task_context.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {
namespace {

/// A panel, m >= n, in blocks: its square top in tiles as high as they are wide, so that what is solved for is apart from what is updated
/// with it, and below that blocks of rows.
template <Scalar T> class PanelRecursion {
public:
    PanelRecursion(Flow& flow, Tile<T> panel, Index first, task::Pivots pivots, PanelCut cut)
        : flow_(flow), panel_(panel), first_(first), pivots_(pivots), cut_(cut), columns_(pieces(panel.cols, cut.columns)),
          units_(columns_ + pieces(panel.rows - panel.cols, cut.rows))
    {
    }
    void submit() { factor(0, columns_); }

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

    void add(std::vector<Access>& to, Access (*mode)(Tile<T>), Index u0, Index u1, Index c0, Index c1) const
    {
        for (Index c = c0; c < c1; ++c)
            for (Index u = u0; u < u1; ++u) to.push_back(mode(tile(u, c)));
    }
    void add_pivots(std::vector<Access>& to, Index begin, Index end) const
    {
        for (Index c = begin; c < end; ++c) to.push_back(task::read(pivots(c)));
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
    void leaf(Index c)
    {
        std::vector<Access> rest;
        add(rest, readwrite<T>, c + 1, units_, c, c + 1);
        task::getrf_panel(flow_, panel_.rows - first_row(c), tile(c, c), first_ + first_row(c), pivots(c), rest);
    }
    void solve(Index begin, Index end, Index c)
    {
        std::vector<Access> rest;
        add(rest, read<T>, begin, end, begin, end);
        add_pivots(rest, begin, end);
        add(rest, readwrite<T>, begin, units_, c, c + 1);
        task::swptr(flow_, width(begin, end), tile(begin, begin), tile(begin, c), first_ + first_row(begin), pivots(begin), rest);
    }
    /// Units [u0, u1) of columns [middle, end) by the columns [begin, middle).
    void update(Index begin, Index middle, Index end, Index u0, Index u1)
    {
        if (u0 >= u1) return;
        std::vector<Access> rest;
        add(rest, read<T>, u0, u1, begin, middle);
        add(rest, read<T>, begin, middle, middle, end);
        add(rest, readwrite<T>, u0, u1, middle, end);
        task::update(flow_, end_row(u1 - 1) - first_row(u0), width(middle, end), width(begin, middle), tile(u0, begin),
                     tile(begin, middle), tile(u0, middle), rest);
    }
    /// Rows of the blocks [begin, end) and below in column c, which is left of them.
    void exchange(Index c, Index begin, Index end)
    {
        std::vector<Access> rest;
        add(rest, readwrite<T>, begin + 1, units_, c, c + 1);
        add_pivots(rest, begin, end);
        task::laswp(flow_, tile(begin, c), first_ + first_row(begin), width(begin, end), pivots(begin), rest);
    }

    Flow& flow_;
    const Tile<T> panel_;
    const Index first_;
    const task::Pivots pivots_;
    const PanelCut cut_;
    const Index columns_, units_;
};

template <Scalar T> struct SharedPanelArgs {
    Index m, n, first;
    PanelCut cut;

    Flops flops() const { return flops_per_fma<T> / 2 * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        const Operand pivots = context.operand(0), panel = context.operand(1);
        const task::Pivots interchanges{static_cast<Index*>(pivots.data), n};
        PanelRecursion<T>(context.flow(), {static_cast<T*>(panel.data), m, n, panel.ld}, first, interchanges, cut).submit();
    }
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
    std::vector<Access> accesses{write(Datum(pivots.data, double(pivots.count) * sizeof(Index)))};
    for (Index i = k; i < A.row_tiles(); ++i) accesses.push_back(readwrite(A(i, k)));
    flow.submit(codelet, SharedPanelArgs<T>{m, n, first, cut}, accesses);
}

#define TRC_INSTANTIATE(T) template void shared_panel(Flow&, TileMatrix<T>, Index, task::Pivots, PanelCut);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
