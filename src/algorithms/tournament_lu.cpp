#include "algorithms/tournament_lu.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/getrf.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace trencadis {
namespace {

/// The candidates for the pivots of panel k, left in the place of its first group.
template <Scalar T> task::Candidates<T> play(Flow& flow, TileMatrix<T> A, Index k, const TournamentRounds<T>& rounds)
{
    const Index group = rounds.group(), groups = pieces(A.row_tiles() - k, group), cols = A(k, k).cols;
    std::vector<Index> rows; // chosen by each group
    for (Index g = 0; g < groups; ++g) {
        const Index first = k + g * group, tiles = std::min(group, A.row_tiles() - first);
        rows.push_back(std::min(cols, std::min(A.rows(), A.first_row(first + tiles)) - A.first_row(first)));
        task::tournament(flow, A, k, first, tiles, rounds(g));
    }
    for (Index stride = 1; stride < groups; stride *= 2)
        for (Index g = 0; g + stride < groups; g += 2 * stride) {
            Index &mine = rows[std::size_t(g)], other = rows[std::size_t(g + stride)];
            task::tournament(flow, cols, rounds(g), mine, rounds(g + stride), other);
            mine = std::min(cols, mine + other);
        }
    return rounds(0);
}

} // namespace

template <Scalar T>
TournamentRounds<T>::TournamentRounds(Index m, Index nb, const ImagePlace& place, Index group)
    : group_(group), nb_(nb),
      memory_(place.is_memory() ? std::size_t(pieces(pieces(m, nb), group)) * task::Candidates<T>::bytes(nb) : 0, place.node),
      begin_(static_cast<char*>(place.is_memory()
                                    ? memory_.data()
                                    : place.reserve(std::size_t(pieces(pieces(m, nb), group)) * task::Candidates<T>::bytes(nb))))
{
}
template <Scalar T> task::Candidates<T> TournamentRounds<T>::operator()(Index place) const
{
    return {begin_ + std::size_t(place) * task::Candidates<T>::bytes(nb_), nb_};
}

template <Scalar T> void getrf_tournament(Flow& flow, TileMatrix<T> A, const TournamentRounds<T>& rounds, Index* pivots)
{
    const Index steps = std::min(A.row_tiles(), A.col_tiles());
    for (Index k = 0; k < steps; ++k) {
        const Index first = A.first_row(k);
        const task::Pivots panel{pivots + first, std::min(A.rows() - first, A(k, k).cols)};
        if (A.row_tiles() - k <= rounds.group()) {
            task::getrf_panel(flow, A, k, panel);
        } else {
            task::getrf_nopiv(flow, A, k, play(flow, A, k, rounds), panel);
            for (Index i = k + 1; i < A.row_tiles(); ++i) task::divide(flow, A(k, k), A(i, k));
        }
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::swptr(flow, A, k, j, panel);
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
