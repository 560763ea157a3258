#include "kernels/chunking.hpp"
#include "kernels/factor_flops.hpp"
#include "kernels/lu_access.hpp"
#include "kernels/operands.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace trencadis::task {
namespace {

template <Scalar T> constexpr double weight_of = flops_per_fma<T> / 2; ///< real operations per operation of the precision

/// Of an m x n panel whose first row is row `first` of the matrix.
template <Scalar T> struct PanelArgs {
    Index m, n, first;
    Info* info;

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        Index* const pivots = data_of<Index>(context, 0);
        const Stored<T> A = stored<T>(context, 1);
        if (const Index zero = kernels_of(context).getrf(m, n, A.data, A.ld, pivots)) info->report(first + zero);
        for (Index i = 0; i < std::min(m, n); ++i) pivots[i] += first;
    }
};

/// Rows [first, first + count) of a tile column, of which `n` columns are at hand, with the rows that their pivots name.
template <Scalar T>
void exchange(Index n, Stored<T> top, Index first, Index count, const Index* pivots,
              blas::Interchanges order = blas::Interchanges::forward)
{
    blas::laswp(n, top.data - first, top.ld, first, first + count, pivots - first, order);
}

template <Scalar T> struct SwptrArgs {
    Index m, n, first;

    Flops flops() const { return weight_of<T> * kernel_flops::gessm(double(m), double(n)); }
    Index chunks() const { return chunk_count(n, flops()); }
    void run(TaskContext& context)
    {
        const KernelProvider& kernels = kernels_of(context);
        const Stored<const T> L = stored<const T>(context, 0);
        const Index* const pivots = data_of<const Index>(context, 1);
        const Stored<T> B = stored<T>(context, 2);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            const Stored<T> part{B.data + r.begin * B.ld, B.ld};
            exchange(r.size(), part, first, m, pivots);
            kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, r.size(), T(1), L.data, L.ld, part.data, part.ld);
        }
    }
};

template <Scalar T> struct LaswpArgs {
    Index n, first, count;
    blas::Interchanges order = blas::Interchanges::forward;
    Guard guard = {};

    void run(TaskContext& context)
    {
        if (guard.stopped()) return;
        exchange(n, stored<T>(context, 1), first, count, data_of<const Index>(context, 0), order);
    }
};
template <Scalar T> constexpr Codelet laswp_codelet = codelet_of<LaswpArgs<T>>("laswp");

/// Tile column j of A from tile row k down, after `first`.
template <Scalar T> std::vector<Access> column_accesses(TileMatrix<T> A, Index k, Index j, std::initializer_list<Access> first)
{
    std::vector<Access> accesses;
    accesses.reserve(first.size() + std::size_t(A.row_tiles() - k));
    accesses.insert(accesses.end(), first);
    for (Index i = k; i < A.row_tiles(); ++i) accesses.push_back(readwrite(A(i, j)));
    return accesses;
}

} // namespace

template <Scalar T> void getrf_panel(Flow& flow, TileMatrix<T> A, Index k, Pivots pivots, Info& info)
{
    static constexpr Codelet codelet = codelet_of<PanelArgs<T>>("getrf_panel");
    assert(A.op() == Op::none);
    const Index first = A.first_row(k);
    flow.submit(codelet, PanelArgs<T>{A.rows() - first, A(k, k).cols, first, &info}, column_accesses(A, k, k, {write(pivots)}));
}

template <Scalar T> void swptr(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<SwptrArgs<T>>("swptr");
    const Tile<T> top = A(k, j);
    flow.submit(codelet, SwptrArgs<T>{top.rows, top.cols, A.first_row(k)},
                column_accesses(A, k, j, {read(A(k, k)), read(pivots)}));
}

template <Scalar T> void laswp(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, std::initializer_list<Access> also)
{
    std::vector<Access> accesses = column_accesses(A, k, j, {read(pivots)});
    accesses.insert(accesses.end(), also);
    flow.submit(laswp_codelet<T>, LaswpArgs<T>{A(k, j).cols, A.first_row(k), pivots.count}, accesses);
}

template <Scalar T> void laswp(Flow& flow, TileMatrix<T> B, Index j, Pivots pivots, blas::Interchanges order, Guard guard)
{
    flow.submit(laswp_codelet<T>, LaswpArgs<T>{B(0, j).cols, 0, pivots.count, order, guard},
                column_accesses(B, 0, j, {read(pivots)}));
}

template <Scalar T> void laswp_behind(Flow& flow, TileMatrix<T> A, Index j, std::span<const Pivots> panels)
{
    std::vector<Access> accesses = column_accesses(A, j + 1, j, {read(panels.front())});
    for (const Pivots& later : panels.subspan(1)) accesses.push_back(read(later));
    const Index count = panels.back().data + panels.back().count - panels.front().data;
    flow.submit(laswp_codelet<T>, LaswpArgs<T>{A(j, j).cols, A.first_row(j + 1), count}, accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_panel(Flow&, TileMatrix<T>, Index, Pivots, Info&);                                                       \
    template void swptr(Flow&, TileMatrix<T>, Index, Index, Pivots);                                                             \
    template void laswp(Flow&, TileMatrix<T>, Index, Index, Pivots, std::initializer_list<Access>);                              \
    template void laswp(Flow&, TileMatrix<T>, Index, Pivots, blas::Interchanges, Guard);                                         \
    template void laswp_behind(Flow&, TileMatrix<T>, Index, std::span<const Pivots>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
