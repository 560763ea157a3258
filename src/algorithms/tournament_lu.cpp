#include "algorithms/tournament_lu.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/getrf.hpp"
#include "kernels/tiles/row_exchange_operations.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace trencadis {
namespace {

/// Two choices play each other until one is left, in the place of the first.
template <Scalar T>
task::Candidates<T> play_off(Flow& flow, Index cols, std::vector<Index> rows, const TournamentRounds<T>& rounds)
{
    const Index groups = Index(rows.size());
    for (Index stride = 1; stride < groups; stride *= 2)
        for (Index g = 0; g + stride < groups; g += 2 * stride) {
            Index &mine = rows[std::size_t(g)], other = rows[std::size_t(g + stride)];
            task::tournament(flow, cols, rounds(g), mine, rounds(g + stride), other);
            mine = std::min(cols, mine + other);
        }
    return rounds(0);
}

/// The candidates for the pivots of panel k. Each of its holders has groups of its own, which come one after the other.
template <Scalar T> task::Candidates<T> play(Flow& flow, TileMatrix<T> A, Index k, const TournamentRounds<T>& rounds)
{
    const Index cols = A(k, k).cols, stride = rounds.holders();
    std::vector<Index> rows; // chosen by each group
    for (Index first = k; first < std::min(k + stride, A.row_tiles()); ++first)
        for (Index from = first; from < A.row_tiles(); from += stride * rounds.group()) {
            const task::ColumnPart<T> part{A, k, first, stride};
            task::tournament(flow, part, from, rounds.group(), rounds(Index(rows.size())));
            rows.push_back(std::min(cols, part.tiles(from, rounds.group()).rows()));
        }
    return play_off(flow, cols, std::move(rows), rounds);
}

/// Panel k and what is to the right of it, where each tile column has several holders; the diagonal's has the first part.
template <Scalar T> class SharedStep {
public:
    SharedStep(Flow& flow, TileMatrix<T> A, Index k, const TournamentRounds<T>& rounds, task::Pivots pivots)
        : flow_(flow), A_(A), k_(k), rounds_(rounds), pivots_(pivots), parts_(std::min(rounds.holders(), A.row_tiles() - k))
    {
    }
    void factor_panel()
    {
        const Tile<T> displaced = rounds_.displaced(k_, A_(k_, k_).cols);
        task::getrf_nopiv(flow_, part(k_, 0), play(flow_, A_, k_, rounds_), pivots_, displaced);
        scatter(k_, displaced);
    }
    void bring_up(Index j)
    {
        const Index cols = A_(k_, j).cols;
        std::vector<Tile<T>> chosen;
        for (Index other = 1; other < parts_; ++other) {
            chosen.push_back(rounds_.chosen(other, j, cols));
            task::gather_rows(flow_, part(j, other), A_.first_row(k_), pivots_, chosen.back());
        }
        const Tile<T> displaced = rounds_.displaced(j, cols);
        task::swptr(flow_, A_(k_, k_), part(j, 0), pivots_, std::span<const Tile<T>>(chosen), displaced);
        scatter(j, displaced);
    }

private:
    task::ColumnPart<T> part(Index j, Index number) const { return {A_, j, k_ + number, rounds_.holders()}; }
    void scatter(Index j, Tile<T> displaced)
    {
        for (Index other = 1; other < parts_; ++other)
            task::scatter_rows(flow_, displaced, A_.first_row(k_), pivots_, part(j, other));
    }

    Flow& flow_;
    const TileMatrix<T> A_;
    const Index k_;
    const TournamentRounds<T>& rounds_;
    const task::Pivots pivots_;
    const Index parts_;
};

template <Scalar T> Index holders_of(TileMatrix<T> A)
{
    const TileOwners owners = A.held().owners;
    return owners.rule == TileOwners::Rule::block_cyclic ? owners.grid_rows : 1;
}
/// Of all holders, most of which have one more than they would need.
Index most_groups(Index row_tiles, Index group, Index holders) { return pieces(row_tiles, group) + holders - 1; }

template <Scalar T> std::size_t bytes_of(TileMatrix<T> A, Index groups, Index holders, Index nb)
{
    const Index tiles = holders > 1 ? holders * A.col_tiles() : 0;
    return std::size_t(groups + tiles) * task::Candidates<T>::bytes(nb);
}

} // namespace

template <Scalar T>
TournamentRounds<T>::TournamentRounds(TileMatrix<T> A, const ImagePlace& place, Index group)
    : group_(group), nb_(A.first_row(1)), holders_(holders_of(A)), groups_(most_groups(A.row_tiles(), group, holders_)),
      memory_(place.is_memory() ? bytes_of(A, groups_, holders_, nb_) : 0, place.node),
      begin_(static_cast<char*>(place.is_memory() ? memory_.data() : place.reserve(bytes_of(A, groups_, holders_, nb_))))
{
}
template <Scalar T> task::Candidates<T> TournamentRounds<T>::operator()(Index place) const
{
    return {begin_ + std::size_t(place) * task::Candidates<T>::bytes(nb_), nb_};
}
template <Scalar T> Tile<T> TournamentRounds<T>::tile(Index number, Index cols) const
{
    T* const data = reinterpret_cast<T*>(begin_ + std::size_t(groups_ + number) * task::Candidates<T>::bytes(nb_));
    return {data, nb_, cols, nb_};
}
template <Scalar T> Tile<T> TournamentRounds<T>::displaced(Index j, Index cols) const { return tile(j * holders_, cols); }
template <Scalar T> Tile<T> TournamentRounds<T>::chosen(Index other, Index j, Index cols) const
{
    return tile(j * holders_ + other, cols);
}

template <Scalar T> void getrf_tournament(Flow& flow, TileMatrix<T> A, const TournamentRounds<T>& rounds, Index* pivots)
{
    const Index steps = std::min(A.row_tiles(), A.col_tiles());
    for (Index k = 0; k < steps; ++k) {
        const Index first = A.first_row(k), left = A.row_tiles() - k;
        const task::Pivots panel{pivots + first, std::min(A.rows() - first, A(k, k).cols)};
        const bool is_shared = rounds.holders() > 1 && left > 1;
        SharedStep<T> step(flow, A, k, rounds, panel);
        if (is_shared) step.factor_panel();
        else if (left <= rounds.group()) task::getrf_panel(flow, A, k, panel);
        else task::getrf_nopiv(flow, A, k, play(flow, A, k, rounds), panel);
        if (is_shared || left > rounds.group())
            for (Index i = k + 1; i < A.row_tiles(); ++i) task::divide(flow, A(k, k), A(i, k));
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            if (is_shared) step.bring_up(j);
            else task::swptr(flow, A, k, j, panel);
            for (Index i = k + 1; i < A.row_tiles(); ++i) task::gemm(flow, T(-1), A(i, k), A(k, j), T(1), A(i, j));
        }
    }
    exchange_behind(flow, A, pivots);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template class TournamentRounds<T>;                                                                                          \
    template void getrf_tournament(Flow&, TileMatrix<T>, const TournamentRounds<T>&, Index*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
