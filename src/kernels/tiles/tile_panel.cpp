#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/row_interchanges.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;
/// Of an m x n panel whose first row is row `first` of the matrix.
template <Scalar T> struct PanelArgs {
    Index m, n, first;
    GridPlace panel;

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        Index* const pivots = data_of<Index>(context, 0);
        const Whole<T> A(context, panel);
        if (const Index zero = kernels_of(context).getrf(m, n, A->data, A->ld, pivots)) context.outcome().report(first + zero);
        for (Index i = 0; i < std::min(m, n); ++i) pivots[i] += first;
        A.store();
    }
};

template <Scalar T> struct SwptrArgs {
    Index m, n, first;
    GridPlace triangle, columns;
    PivotPlace interchanges;

    Flops flops() const { return weight_of<T> * kernel_flops::gessm(double(m), double(n)); }
    Index chunks() const { return chunk_count(n, flops()); }
    void run(TaskContext& context)
    {
        const KernelProvider& kernels = kernels_of(context);
        const Whole<const T> L(context, triangle);
        const PivotList pivots(context, interchanges);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            exchange_rows<T>(context, columns, r.begin, r.end, first, pivots);
            const Whole<T> B(context, top_of(context, columns, m), r.begin, r.end);
            kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, r.size(), T(1), L->data, L->ld, B->data, B->ld);
            B.store();
        }
    }
};

/// C <- C - A B.
template <Scalar T> struct UpdateArgs {
    Index m, n, k;
    GridPlace a, b, c;

    Flops flops() const { return operations::gemm(double(m), double(n), double(k)).template flops<T>(); }
    void run(TaskContext& context)
    {
        const Whole<const T> A(context, a), B(context, b);
        const Whole<T> C(context, c);
        kernels_of(context).gemm(Op::none, Op::none, m, n, k, T(-1), A->data, A->ld, B->data, B->ld, T(1), C->data, C->ld);
        C.store();
    }
};

template <Scalar T> struct LaswpArgs {
    Index n, first;
    GridPlace columns;
    PivotPlace interchanges;
    blas::Interchanges order;
    Guard guard;

    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const PivotList pivots(context, interchanges);
        exchange_rows<T>(context, columns, 0, n, first, pivots, order);
    }
};

template <Scalar T> struct GridCopyArgs {
    Index m, n;
    GridPlace from, to;

    void run(TaskContext& context)
    {
        const Whole<const T> A(context, from);
        const Whole<T> B(context, to);
        for (Index j = 0; j < n; ++j) std::copy_n(A->data + j * A->ld, m, B->data + j * B->ld);
        B.store();
    }
};
template <Scalar T> constexpr Codelet panel_codelet = codelet_of<PanelArgs<T>>("getrf_panel");
template <Scalar T> constexpr Codelet swptr_codelet = codelet_of<SwptrArgs<T>>("swptr");
template <Scalar T> constexpr Codelet laswp_codelet = codelet_of<LaswpArgs<T>>("laswp");

PivotPlace add(std::vector<Access>& to, std::span<const Pivots> pivots)
{
    const PivotPlace place{std::int32_t(to.size()), std::int32_t(pivots.size())};
    for (const Pivots& piece : pivots) to.push_back(read(piece));
    return place;
}
template <Scalar T> GridPlace placed(std::vector<Access>& to, Access (*mode)(Tile<T>), const TileGrid<T>& grid)
{
    const GridPlace place = GridPlace::of(to.size(), grid);
    add(to, mode, grid);
    return place;
}
/// Tile column j of A from tile row k on.
template <Scalar T> TileGrid<T> from_row(TileMatrix<T> A, Index k, Index j) { return column_of(A, j, k, A.row_tiles()); }

} // namespace

template <Scalar T> void getrf_panel(Flow& flow, const TileGrid<T>& panel, Index first, Pivots pivots)
{
    assert(panel.tiles[0].op == Op::none);
    std::vector<Access> accesses{write(pivots)};
    const GridPlace place = placed(accesses, &trencadis::readwrite<T>, panel);
    flow.submit(panel_codelet<T>, PanelArgs<T>{panel.rows(), panel.cols(), first, place}, accesses);
}
template <Scalar T>
void swptr(Flow& flow, const TileGrid<T>& L, const TileGrid<T>& B, Index first, std::span<const Pivots> pivots)
{
    std::vector<Access> accesses;
    const GridPlace triangle = placed(accesses, &trencadis::read<T>, L);
    const PivotPlace interchanges = add(accesses, pivots);
    const GridPlace columns = placed(accesses, &trencadis::readwrite<T>, B);
    const Index order = std::min(L.rows(), B.rows());
    flow.submit(swptr_codelet<T>, SwptrArgs<T>{order, B.cols(), first, triangle, columns, interchanges}, accesses);
}
template <Scalar T> void update(Flow& flow, const TileGrid<T>& A, const TileGrid<T>& B, const TileGrid<T>& C)
{
    static constexpr Codelet codelet = codelet_of<UpdateArgs<T>>("gemm", "panel");
    std::vector<Access> accesses;
    const GridPlace a = placed(accesses, &trencadis::read<T>, A), b = placed(accesses, &trencadis::read<T>, B),
                    c = placed(accesses, &trencadis::readwrite<T>, C);
    flow.submit(codelet, UpdateArgs<T>{C.rows(), C.cols(), A.cols(), a, b, c}, accesses);
}
template <Scalar T>
void laswp(Flow& flow, const TileGrid<T>& B, Index first, std::span<const Pivots> pivots, blas::Interchanges order, Guard guard,
           std::initializer_list<Access> also)
{
    std::vector<Access> accesses;
    const PivotPlace interchanges = add(accesses, pivots);
    const GridPlace columns = placed(accesses, &trencadis::readwrite<T>, B);
    accesses.insert(accesses.end(), also);
    flow.submit(laswp_codelet<T>, LaswpArgs<T>{B.cols(), first, columns, interchanges, order, guard}, accesses);
}
template <Scalar T> void copy(Flow& flow, const TileGrid<T>& A, const TileGrid<T>& B)
{
    static constexpr Codelet codelet = codelet_of<GridCopyArgs<T>>("copy", "grid");
    std::vector<Access> accesses;
    const GridPlace from = placed(accesses, &trencadis::read<T>, A), to = placed(accesses, &trencadis::write<T>, B);
    flow.submit(codelet, GridCopyArgs<T>{A.rows(), A.cols(), from, to}, accesses);
}

template <Scalar T> void getrf_panel(Flow& flow, TileMatrix<T> A, Index k, Pivots pivots)
{
    getrf_panel(flow, from_row(A, k, k), A.first_row(k), pivots);
}

template <Scalar T> void swptr(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots)
{
    swptr(flow, TileGrid<T>{{A(k, k)}}, from_row(A, k, j), A.first_row(k), std::span(&pivots, 1));
}

template <Scalar T> void laswp(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, std::initializer_list<Access> also)
{
    laswp(flow, from_row(A, k, j), A.first_row(k), std::span<const Pivots>(&pivots, 1), blas::Interchanges::forward, Guard{},
          also);
}

template <Scalar T>
void laswp(Flow& flow, TileMatrix<T> B, Index j, std::span<const Pivots> pivots, blas::Interchanges order, Guard guard)
{
    laswp(flow, from_row(B, 0, j), 0, pivots, order, guard);
}

template <Scalar T> void laswp_behind(Flow& flow, TileMatrix<T> A, Index j, std::span<const Pivots> panels)
{
    laswp(flow, from_row(A, j + 1, j), A.first_row(j + 1), panels);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_panel(Flow&, const TileGrid<T>&, Index, Pivots);                                                         \
    template void swptr(Flow&, const TileGrid<T>&, const TileGrid<T>&, Index, std::span<const Pivots>);                          \
    template void update(Flow&, const TileGrid<T>&, const TileGrid<T>&, const TileGrid<T>&);                                     \
    template void laswp(Flow&, const TileGrid<T>&, Index, std::span<const Pivots>, blas::Interchanges, Guard,                    \
                        std::initializer_list<Access>);                                                                          \
    template void copy(Flow&, const TileGrid<T>&, const TileGrid<T>&);                                                           \
    template void getrf_panel(Flow&, TileMatrix<T>, Index, Pivots);                                                              \
    template void swptr(Flow&, TileMatrix<T>, Index, Index, Pivots);                                                             \
    template void laswp(Flow&, TileMatrix<T>, Index, Index, Pivots, std::initializer_list<Access>);                              \
    template void laswp(Flow&, TileMatrix<T>, Index, std::span<const Pivots>, blas::Interchanges, Guard);                        \
    template void laswp_behind(Flow&, TileMatrix<T>, Index, std::span<const Pivots>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
