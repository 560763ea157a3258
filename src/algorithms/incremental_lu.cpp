#include "algorithms/incremental_lu.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/trsm.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <algorithm>
#include <complex>

namespace trencadis {

template <Scalar T>
Eliminations<T>::Eliminations(Index m, Index n, Index nb, Index ib, const ImagePlace& place)
    : row_tiles_(pieces(m, nb)), steps_(std::min(row_tiles_, pieces(n, nb))), nb_(nb), ib_(ib),
      memory_(place.is_memory() ? bytes() : 0, place.node),
      begin_(static_cast<char*>(place.is_memory() ? memory_.data() : place.reserve(bytes())))
{
}
template <Scalar T> std::size_t Eliminations<T>::bytes() const
{
    const Index below = steps_ * row_tiles_ - steps_ * (steps_ + 1) / 2;
    return std::size_t(below) * slot() + std::size_t(steps_ * nb_) * sizeof(Index);
}
template <Scalar T> task::Pivots Eliminations<T>::pivots(Index k, Index rows, Index cols) const
{
    return {reinterpret_cast<Index*>(begin_) + k * nb_, std::min(rows, cols)};
}
template <Scalar T> task::Elimination<T> Eliminations<T>::operator()(Index i, Index k, Index cols) const
{
    const Index before = k * row_tiles_ - k * (k + 1) / 2 + (i - k - 1); // by columns, those below the diagonal
    return {begin_ + std::size_t(steps_ * nb_) * sizeof(Index) + std::size_t(before) * slot(), cols, ib_};
}

template <Scalar T> void getrf_incremental(Flow& flow, TileMatrix<T> A, const Eliminations<T>& by)
{
    const Index last = A.row_tiles() - 1; // what U's diagonal is, is known then
    for (Index k = 0; k < std::min(A.row_tiles(), A.col_tiles()); ++k) {
        const Tile<T> U = A(k, k);
        const task::Pivots pivots = by.pivots(k, U.rows, U.cols);
        task::getrf(flow, U, pivots, A.first_row(k), k == last);
        for (Index j = k + 1; j < A.col_tiles(); ++j) task::gessm(flow, U, pivots, A(k, j));
        for (Index i = k + 1; i < A.row_tiles(); ++i) {
            task::tstrf(flow, U, A(i, k), by(i, k, U.cols), A.first_row(k), i == last);
            for (Index j = k + 1; j < A.col_tiles(); ++j) task::ssssm(flow, A(i, k), by(i, k, U.cols), A(k, j), A(i, j));
        }
    }
}

template <Scalar T> void getrs_incremental(Flow& flow, TileMatrix<T> A, const Eliminations<T>& by, TileMatrix<T> B, Guard guard)
{
    for (Index k = 0; k < A.tiles(); ++k) {
        const Tile<T> U = A(k, k);
        for (Index j = 0; j < B.col_tiles(); ++j) task::gessm(flow, U, by.pivots(k, U.rows, U.cols), B(k, j), guard);
        for (Index i = k + 1; i < A.tiles(); ++i)
            for (Index j = 0; j < B.col_tiles(); ++j) task::ssssm(flow, A(i, k), by(i, k, U.cols), B(k, j), B(i, j), guard);
    }
    trsm(flow, Uplo::upper, Diag::non_unit, T(1), A, B, guard);
}

template <Scalar T> void getrs_incremental_after(Flow& flow, TileMatrix<T> A, const Eliminations<T>& by, TileMatrix<T> B)
{
    const Index last = A.tiles() - 1; // the zeros of all steps before are known when it is factored
    for (Index j = 0; j < B.col_tiles() && last >= 0; ++j) task::after(flow, A(last, last), B(0, j));
    getrs_incremental(flow, A, by, B, Guard{A.rows()});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template class Eliminations<T>;                                                                                              \
    template void getrf_incremental(Flow&, TileMatrix<T>, const Eliminations<T>&);                                               \
    template void getrs_incremental(Flow&, TileMatrix<T>, const Eliminations<T>&, TileMatrix<T>, Guard);                         \
    template void getrs_incremental_after(Flow&, TileMatrix<T>, const Eliminations<T>&, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
