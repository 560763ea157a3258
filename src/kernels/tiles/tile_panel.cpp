#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
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

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        Index* const pivots = data_of<Index>(context, 0);
        const Stored<T> A = stored<T>(context, 1);
        if (const Index zero = kernels_of(context).getrf(m, n, A.data, A.ld, pivots)) context.outcome().report(first + zero);
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

/// C <- C - A B.
template <Scalar T> struct UpdateArgs {
    Index m, n, k;

    Flops flops() const { return operations::gemm(double(m), double(n), double(k)).template flops<T>(); }
    void run(TaskContext& context)
    {
        const Stored<const T> A = stored<const T>(context, 0), B = stored<const T>(context, 1);
        const Stored<T> C = stored<T>(context, 2);
        kernels_of(context).gemm(Op::none, Op::none, m, n, k, T(-1), A.data, A.ld, B.data, B.ld, T(1), C.data, C.ld);
    }
};

template <Scalar T> struct LaswpArgs {
    Index n, first, count;
    blas::Interchanges order = blas::Interchanges::forward;
    Guard guard = {};

    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        exchange(n, stored<T>(context, 1), first, count, data_of<const Index>(context, 0), order);
    }
};
template <Scalar T> constexpr Codelet panel_codelet = codelet_of<PanelArgs<T>>("getrf_panel");
template <Scalar T> constexpr Codelet swptr_codelet = codelet_of<SwptrArgs<T>>("swptr");
template <Scalar T> constexpr Codelet laswp_codelet = codelet_of<LaswpArgs<T>>("laswp");

std::vector<Access> joined(std::initializer_list<Access> first, std::span<const Access> rest)
{
    std::vector<Access> all(first);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}
/// Tile column j of A below tile row k.
template <Scalar T> std::vector<Access> below(TileMatrix<T> A, Index k, Index j)
{
    std::vector<Access> accesses;
    for (Index i = k + 1; i < A.row_tiles(); ++i) accesses.push_back(readwrite(A(i, j)));
    return accesses;
}

} // namespace

template <Scalar T>
void getrf_panel(Flow& flow, Index rows, Tile<T> top, Index first, Pivots pivots, std::span<const Access> rest)
{
    assert(top.op == Op::none);
    flow.submit(panel_codelet<T>, PanelArgs<T>{rows, top.cols, first}, joined({write(pivots), readwrite(top)}, rest));
}
template <Scalar T>
void swptr(Flow& flow, Index order, Tile<T> L, Tile<T> B, Index first, Pivots pivots, std::span<const Access> rest)
{
    flow.submit(swptr_codelet<T>, SwptrArgs<T>{order, B.cols, first}, joined({read(L), read(pivots), readwrite(B)}, rest));
}
template <Scalar T>
void update(Flow& flow, Index m, Index n, Index k, Tile<T> A, Tile<T> B, Tile<T> C, std::span<const Access> rest)
{
    static constexpr Codelet codelet = codelet_of<UpdateArgs<T>>("gemm", "panel");
    flow.submit(codelet, UpdateArgs<T>{m, n, k}, joined({read(A), read(B), readwrite(C)}, rest));
}
template <Scalar T>
void laswp(Flow& flow, Tile<T> B, Index first, Index count, Pivots pivots, std::span<const Access> rest, blas::Interchanges order,
           Guard guard)
{
    flow.submit(laswp_codelet<T>, LaswpArgs<T>{B.cols, first, count, order, guard}, joined({read(pivots), readwrite(B)}, rest));
}

template <Scalar T> void getrf_panel(Flow& flow, TileMatrix<T> A, Index k, Pivots pivots)
{
    const Index first = A.first_row(k);
    getrf_panel(flow, A.rows() - first, A(k, k), first, pivots, below(A, k, k));
}

template <Scalar T> void swptr(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots)
{
    swptr(flow, A(k, j).rows, A(k, k), A(k, j), A.first_row(k), pivots, below(A, k, j));
}

template <Scalar T> void laswp(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, std::initializer_list<Access> also)
{
    std::vector<Access> rest = below(A, k, j);
    rest.insert(rest.end(), also);
    laswp(flow, A(k, j), A.first_row(k), pivots.count, pivots, rest);
}

template <Scalar T> void laswp(Flow& flow, TileMatrix<T> B, Index j, Pivots pivots, blas::Interchanges order, Guard guard)
{
    laswp(flow, B(0, j), 0, pivots.count, pivots, below(B, 0, j), order, guard);
}

template <Scalar T> void laswp_behind(Flow& flow, TileMatrix<T> A, Index j, std::span<const Pivots> panels)
{
    std::vector<Access> rest = below(A, j + 1, j);
    for (const Pivots& later : panels.subspan(1)) rest.push_back(read(later));
    const Index count = panels.back().data + panels.back().count - panels.front().data;
    laswp(flow, A(j + 1, j), A.first_row(j + 1), count, panels.front(), rest);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_panel(Flow&, Index, Tile<T>, Index, Pivots, std::span<const Access>);                                    \
    template void swptr(Flow&, Index, Tile<T>, Tile<T>, Index, Pivots, std::span<const Access>);                                 \
    template void update(Flow&, Index, Index, Index, Tile<T>, Tile<T>, Tile<T>, std::span<const Access>);                        \
    template void laswp(Flow&, Tile<T>, Index, Index, Pivots, std::span<const Access>, blas::Interchanges, Guard);               \
    template void getrf_panel(Flow&, TileMatrix<T>, Index, Pivots);                                                              \
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
