#include "algorithms/column_lu.hpp"

#include "algorithms/cutting.hpp"

#include <algorithm>
#include <complex>

namespace trencadis {
namespace {

/// Bytes of one panel's: in whole cache lines, for several devices write them.
std::size_t interchange_slot(Index nb) { return std::size_t(round_up(nb * Index(sizeof(std::int32_t)), 64)); }

/// Of a panel and of what it waits for: the rest of a step may be one task, as long as all of it.
constexpr TaskOptions look_ahead{.priority = 1e6};

/// Everything that is asked for of a matrix and its panels, in block columns.
template <Scalar T> class ColumnLu {
public:
    ColumnLu(Flow& flow, TileMatrix<T> A, const PanelInterchanges& by, Index together)
        : flow_(flow), A_(A), by_(by.all()), together_(together), steps_(Index(by.all().size()))
    {
    }
    void factor(Index* pivots)
    {
        if (steps_ > 0) factor_panel(0, pivots);
        for (Index k = 0; k < steps_; ++k) {
            const Index next = k + 1;
            if (next < A_.col_tiles()) task::update(flow_, panel(k), task::row_of(A_, 0, next, next + 1), look_ahead);
            if (next < steps_) factor_panel(next, pivots);
            in_groups(A_, next + 1, A_.col_tiles(),
                      [&](const task::TileGrid<T>& columns) { task::update(flow_, panel(k), columns); });
        }
    }
    void solve(TileMatrix<T> B)
    {
        const Guard guard{A_.rows()};
        const auto all = [&](const auto& visit) { in_groups(B, 0, B.col_tiles(), visit); };
        for (Index k = 0; k < steps_; ++k)
            all([&](const task::TileGrid<T>& columns) { task::update(flow_, panel(k), columns, {}, guard, &by_.back()); });
        for (Index k = steps_ - 1; k >= 0; --k)
            all([&](const task::TileGrid<T>& columns) { task::substitute(flow_, panel(k), columns, guard); });
    }
    /// Last of all: until then L is used as it was left.
    void exchange_behind()
    {
        for (Index begin = 0; begin < steps_ - 1; begin = group_end(begin))
            task::exchange_behind(flow_, A_, begin, std::min(group_end(begin), steps_ - 1), by_);
    }

private:
    task::Panel<T> panel(Index k) const { return {A_(0, k), first_row(k), by_[std::size_t(k)]}; }
    Index first_row(Index k) const { return k * A_(0, 0).cols; }
    void factor_panel(Index k, Index* pivots)
    {
        task::factor(flow_, panel(k), look_ahead);
        const task::Interchanges& its = by_[std::size_t(k)];
        task::tell(flow_, its, first_row(k), {pivots + first_row(k), its.count});
    }
    /// Groups begin at the same columns in each step, so that who has had them has them again.
    Index group_end(Index column) const { return (column / together_ + 1) * together_; }
    template <class Visit> void in_groups(TileMatrix<T> of, Index begin, Index end, const Visit& visit) const
    {
        for (Index last; begin < end; begin = last) {
            last = std::min(group_end(begin), end);
            visit(task::row_of(of, 0, begin, last));
        }
    }

    Flow& flow_;
    TileMatrix<T> A_;
    std::span<const task::Interchanges> by_;
    Index together_, steps_;
};

} // namespace

PanelInterchanges::PanelInterchanges(Index m, Index n, Index nb, const ImagePlace& place)
    : bytes_(std::size_t(pieces(std::min(m, n), nb)) * interchange_slot(nb)), memory_(place.is_memory() ? bytes_ : 0, place.node)
{
    char* const begin = static_cast<char*>(place.is_memory() ? memory_.data() : place.reserve(bytes_));
    for (Index first = 0; first < std::min(m, n); first += nb)
        all_.push_back(
            {reinterpret_cast<std::int32_t*>(begin + all_.size() * interchange_slot(nb)), std::min(nb, std::min(m, n) - first)});
}

template <Scalar T> void getrf_columns(Flow& flow, TileMatrix<T> A, const PanelInterchanges& by, Index* pivots, Index together)
{
    ColumnLu<T> lu(flow, A, by, together);
    lu.factor(pivots);
    lu.exchange_behind();
}

template <Scalar T>
void gesv_columns(Flow& flow, TileMatrix<T> A, const PanelInterchanges& by, Index* pivots, TileMatrix<T> B, Index together)
{
    ColumnLu<T> lu(flow, A, by, together);
    lu.factor(pivots);
    lu.solve(B);
    lu.exchange_behind();
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_columns(Flow&, TileMatrix<T>, const PanelInterchanges&, Index*, Index);                                  \
    template void gesv_columns(Flow&, TileMatrix<T>, const PanelInterchanges&, Index*, TileMatrix<T>, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
