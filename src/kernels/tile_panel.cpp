#include "kernels/chunking.hpp"
#include "kernels/factor_flops.hpp"
#include "kernels/lu_access.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace trencadis::task {
namespace {

/// Of an m x n panel; `weight`: real operations per operation of the precision.
struct PanelArgs {
    Index m, n;
    double weight;
    Flops flops() const { return weight * kernel_flops::getrf(double(m), double(n)); }
};
/// Row by row: cores that share a panel eliminate below the pivot each in its own rows.
struct SharedPanelArgs : PanelArgs {
    Index chunks() const { return chunk_count(m, flops()); }
};
struct SwptrArgs {
    Index m, n;
    double weight;
    Flops flops() const { return weight * kernel_flops::gessm(double(m), double(n)); }
    Index chunks() const { return chunk_count(n, flops()); }
};
struct LaswpArgs {};

template <Scalar T> constexpr double weight_of = flops_per_fma<T> / 2;

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

template <Scalar T> void getrf_panel(Flow& flow, PanelBy by, TileMatrix<T> A, Index k, Pivots pivots)
{
    static constexpr Codelet alone = codelet_of<PanelArgs>("getrf_panel"), shared = codelet_of<SharedPanelArgs>("getrf_panel");
    assert(A.op() == Op::none);
    const PanelArgs args{A.rows() - A.first_row(k), A(k, k).cols, weight_of<T>};
    const std::vector<Access> accesses = column_accesses(A, k, k, {write(pivots)});
    if (by == PanelBy::one_core) flow.submit(alone, args, accesses);
    else flow.submit(shared, SharedPanelArgs{args}, accesses);
}

template <Scalar T> void swptr(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<SwptrArgs>("swptr");
    const Tile<T> top = A(k, j);
    flow.submit(codelet, SwptrArgs{top.rows, top.cols, weight_of<T>}, column_accesses(A, k, j, {read(A(k, k)), read(pivots)}));
}

template <Scalar T> void laswp(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, std::initializer_list<Access> also)
{
    static constexpr Codelet codelet = codelet_of<LaswpArgs>("laswp");
    std::vector<Access> accesses = column_accesses(A, k, j, {read(pivots)});
    accesses.insert(accesses.end(), also);
    flow.submit(codelet, LaswpArgs{}, accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_panel(Flow&, PanelBy, TileMatrix<T>, Index, Pivots);                                                     \
    template void swptr(Flow&, TileMatrix<T>, Index, Index, Pivots);                                                             \
    template void laswp(Flow&, TileMatrix<T>, Index, Index, Pivots, std::initializer_list<Access>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
