#include "algorithms/getrf.hpp"

#include "kernels/lu_operations.hpp"
#include "kernels/tile_operations.hpp"

#include <algorithm>

namespace trencadis {
namespace {

template <Scalar T> Index steps(TileMatrix<T> A) { return std::min(A.row_tiles(), A.col_tiles()); }

/// Interchanges of the whole of panel k.
template <Scalar T> task::Pivots pivots_of(TileMatrix<T> A, PivotGrid pivots, Index k)
{
    return {pivots(k, k), std::min(A.rows() - A.first_row(k), A(k, k).cols)};
}

} // namespace

template <Scalar T> void getrf_incremental(Flow& flow, Index ib, TileMatrix<T> A, TileMatrix<T> L, PivotGrid pivots)
{
    const auto of_tile = [&](Index i, Index k) { return task::Pivots{pivots(i, k), std::min(A(i, k).rows, A(k, k).cols)}; };
    for (Index k = 0; k < steps(A); ++k) {
        task::getrf(flow, ib, A(k, k), of_tile(k, k));
        for (Index j = k + 1; j < A.col_tiles(); ++j) task::gessm(flow, ib, A(k, k), of_tile(k, k), A(k, j));
        for (Index i = k + 1; i < A.row_tiles(); ++i) {
            const task::Elimination<T> by{L(i, k), {pivots(i, k), A(k, k).cols}};
            task::tstrf(flow, ib, A(k, k), A(i, k), by);
            for (Index j = k + 1; j < A.col_tiles(); ++j) task::ssssm(flow, ib, A(i, k), by, A(k, j), A(i, j));
        }
    }
}

template <Scalar T> void getrf_kastors(Flow& flow, ColumnUpdates updates, TileMatrix<T> A, PivotGrid pivots, char* tokens)
{
    const auto together = [&](void* data) { return updates == ColumnUpdates::queued ? readwrite(data) : concurrent_write(data); };
    const auto update = [&](Index i, Index j, Index k, std::initializer_list<Access> also) {
        task::gemm(flow, T(-1), A(i, k), A(k, j), T(1), A(i, j), also);
    };
    for (Index k = 0; k < steps(A); ++k) {
        const task::Pivots panel = pivots_of(A, pivots, k);
        task::getrf_panel(flow, task::PanelBy::one_core, A, k, panel);
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::swptr(flow, A, k, j, panel);
            if (k + 1 < A.row_tiles()) update(k + 1, j, k, {});
            for (Index i = k + 2; i < A.row_tiles(); ++i) update(i, j, k, {read(tokens + k + 1), together(A(k + 1, j).data)});
        }
    }
    for (Index k = 1; k < steps(A); ++k)
        for (Index j = 0; j < k; ++j)
            task::laswp(flow, A, k, j, pivots_of(A, pivots, k), {read(A(k - 1, j).data), together(tokens + k)});
}

template <Scalar T> void getrf_panel(Flow& flow, TileMatrix<T> A, PivotGrid pivots)
{
    for (Index k = 0; k < steps(A); ++k) {
        const task::Pivots panel = pivots_of(A, pivots, k);
        task::getrf_panel(flow, task::PanelBy::sharing_cores, A, k, panel);
        for (Index j = k + 1; j < A.col_tiles(); ++j) {
            task::laswp(flow, A, k, j, panel);
            task::trsm(flow, Side::left, Uplo::lower, Diag::unit, T(1), A(k, k), A(k, j));
            for (Index i = k + 1; i < A.row_tiles(); ++i) task::gemm(flow, T(-1), A(i, k), A(k, j), T(1), A(i, j));
        }
    }
    for (Index k = 1; k < steps(A); ++k)
        for (Index j = 0; j < k; ++j) task::laswp(flow, A, k, j, pivots_of(A, pivots, k));
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_incremental(Flow&, Index, TileMatrix<T>, TileMatrix<T>, PivotGrid);                                      \
    template void getrf_kastors(Flow&, ColumnUpdates, TileMatrix<T>, PivotGrid, char*);                                          \
    template void getrf_panel(Flow&, TileMatrix<T>, PivotGrid);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
