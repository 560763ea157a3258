#include "algorithms/getrf.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/recursive_panel.hpp"
#include "algorithms/trsm.hpp"
#include "kernels/tiles/lu_operations.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {
namespace {

/// Of packing: all updates of a step wait for it, and it has no length of its own that would rank it before those of the step
/// before.
constexpr TaskOptions urgent{.priority = 1e6};
constexpr Index steps_kept = 3; ///< whose images are in memory at a time: a panel may be two steps ahead of the last update

template <Scalar T> Index steps(TileMatrix<T> A) { return std::min(A.row_tiles(), A.col_tiles()); }

/// Interchanges of panel k in the vector for all of A.
template <Scalar T> task::Pivots pivots_of(TileMatrix<T> A, Index* pivots, Index k)
{
    const Index first = A.first_row(k);
    return {pivots + first, std::min(A.rows() - first, A(k, k).cols)};
}

/// Those of all panels.
template <Scalar T> std::vector<task::Pivots> panels_of(TileMatrix<T> A, Index* pivots)
{
    std::vector<task::Pivots> panels;
    for (Index k = 0; k < steps(A); ++k) panels.push_back(pivots_of(A, pivots, k));
    return panels;
}

} // namespace

template <Scalar T> void exchange_behind(Flow& flow, TileMatrix<T> A, Index* pivots)
{
    const std::vector<task::Pivots> panels = panels_of(A, pivots);
    for (Index j = 0; j + 1 < steps(A); ++j) task::laswp_behind(flow, A, j, std::span(panels).subspan(std::size_t(j + 1)));
}

template <Scalar T> void getrf_kastors(Flow& flow, ColumnUpdates updates, TileMatrix<T> A, Index* pivots, char* tokens)
{
    const bool queued = updates == ColumnUpdates::queued;
    const auto together = [&](Tile<T> tile) { return queued ? readwrite(tile) : concurrent_write(tile); };
    const auto order = [&](void* token) { return queued ? readwrite(token) : concurrent_write(token); };
    const auto update = [&](Index i, Index j, Index k, std::initializer_list<Access> also) {
        task::gemm(flow, T(-1), A(i, k), A(k, j), T(1), A(i, j), also);
    };
    for (Index k = 0; k < steps(A); ++k) {
        const task::Pivots panel = pivots_of(A, pivots, k);
        task::getrf_panel(flow, A, k, panel);
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::swptr(flow, A, k, j, panel);
            if (k + 1 < A.row_tiles()) update(k + 1, j, k, {});
            for (Index i = k + 2; i < A.row_tiles(); ++i) update(i, j, k, {read(tokens + k + 1), together(A(k + 1, j))});
        }
    }
    for (Index k = 1; k < steps(A); ++k)
        for (Index j = 0; j < k; ++j) task::laswp(flow, A, k, j, pivots_of(A, pivots, k), {read(A(k - 1, j)), order(tokens + k)});
}

template <Scalar T> void getrf(Flow& flow, TileMatrix<T> A, Index* pivots, PanelCut cut)
{
    for (Index k = 0; k < steps(A); ++k) {
        const task::Pivots panel = pivots_of(A, pivots, k);
        shared_panel(flow, A, k, panel, cut);
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::swptr(flow, A, k, j, panel);
            for (Index i = k + 1; i < A.row_tiles(); ++i) task::gemm(flow, T(-1), A(i, k), A(k, j), T(1), A(i, j));
        }
    }
    exchange_behind(flow, A, pivots);
}

template <Scalar T> void getrf_packed(Flow& flow, TileMatrix<T> A, const LuImages<T>& images, Index* pivots, PanelCut cut)
{
    for (Index k = 0; k < steps(A); ++k) {
        const task::Pivots panel = pivots_of(A, pivots, k);
        shared_panel(flow, A, k, panel, cut);
        if (k + 1 == A.col_tiles()) break;
        blas::Operand<T> L = blas::general<T>(A(k, k).data, A(k, k).ld).transposed();
        L.structure = blas::Structure::triangular;
        L.uplo = Uplo::upper;
        L.diag = Diag::unit;
        task::pack_triangle(flow, L, A(k, k).rows, images.triangle(k), urgent);
        const bool updates = k + 1 < A.row_tiles();
        const auto left = [&](Index i) { return images.left(i, k, A(i, k).rows, A(i, k).cols); };
        const auto right = [&](Index j) { return images.right(j, k, A(k, j).cols, A(k, j).rows); };
        for (Index i = k + 1; i < A.row_tiles(); ++i)
            task::pack_left(flow, blas::general<T>(A(i, k).data, A(i, k).ld), left(i), urgent);
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::swptr_packed(flow, A, k, j, panel, images.triangle(k), updates ? right(j).data : task::ImageMemory<T>());
            for (Index i = k + 1; i < A.row_tiles(); ++i)
                task::multiply(flow, task::Product<T>{T(-1), left(i), right(j), T(1), A(i, j)});
        }
    }
    exchange_behind(flow, A, pivots);
}

template <Scalar T> void getrs(Flow& flow, Op op, TileMatrix<T> A, const Index* pivots, TileMatrix<T> B, Guard guard)
{
    const std::vector<task::Pivots> panels = pivots ? panels_of(A, const_cast<Index*>(pivots)) : std::vector<task::Pivots>();
    const auto exchange = [&](blas::Interchanges order) {
        if (panels.empty()) return;
        for (Index j = 0; j < B.col_tiles(); ++j) task::laswp<T>(flow, B, j, panels, order, guard);
    };
    if (op == Op::none) {
        exchange(blas::Interchanges::forward);
        trsm(flow, Uplo::lower, Diag::unit, T(1), A, B, guard);
        return trsm(flow, Uplo::upper, Diag::non_unit, T(1), A, B, guard);
    }
    trsm(flow, Uplo::lower, Diag::non_unit, T(1), A.with(op), B, guard);
    trsm(flow, Uplo::upper, Diag::unit, T(1), A.with(op), B, guard);
    exchange(blas::Interchanges::backward);
}

template <Scalar T> void getrs_after(Flow& flow, TileMatrix<T> A, const Index* pivots, TileMatrix<T> B)
{
    const Index last = A.tiles() - 1;
    for (Index j = 0; j < B.col_tiles() && last >= 0; ++j) task::after(flow, A(last, last), B(0, j));
    getrs(flow, Op::none, A, pivots, B, Guard{A.rows()});
}

template <Scalar T>
LuImages<T>::LuImages(Index m, Index n, Index nb, const ImagePlace& place)
    : left_(PackedSlots<T>::left(pieces(m, nb), steps_kept, nb, nb, place)),
      right_(PackedSlots<T>::right(pieces(n, nb), steps_kept, nb, nb, place)),
      triangle_(PackedSlots<T>::triangle(steps_kept, nb, place))
{
}
template <Scalar T> task::Image<T> LuImages<T>::left(Index i, Index k, Index rows, Index cols) const
{
    return {left_(i, k), {rows, cols}};
}
template <Scalar T> task::Image<T> LuImages<T>::right(Index j, Index k, Index cols, Index rows) const
{
    return {right_(j, k), {cols, rows}};
}
template <Scalar T> task::ImageMemory<T> LuImages<T>::triangle(Index k) const { return triangle_(0, k); }

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void exchange_behind(Flow&, TileMatrix<T>, Index*);                                                                 \
    template void getrf_kastors(Flow&, ColumnUpdates, TileMatrix<T>, Index*, char*);                                             \
    template void getrf(Flow&, TileMatrix<T>, Index*, PanelCut);                                                                 \
    template void getrf_packed(Flow&, TileMatrix<T>, const LuImages<T>&, Index*, PanelCut);                                      \
    template void getrs(Flow&, Op, TileMatrix<T>, const Index*, TileMatrix<T>, Guard);                                           \
    template void getrs_after(Flow&, TileMatrix<T>, const Index*, TileMatrix<T>);                                                \
    template class LuImages<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
