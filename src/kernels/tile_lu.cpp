#include "kernels/chunking.hpp"
#include "kernels/factor_flops.hpp"
#include "kernels/lu_access.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// Of an m x n tile; `weight`: real operations per operation of the precision.
struct GetrfArgs {
    Index m, n, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::getrf(double(m), double(n)); }
};
struct GessmArgs {
    Index m, n, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::gessm(double(m), double(n)); }
    Index chunks() const { return chunk_count(n, flops()); }
};
struct TstrfArgs {
    Index m, n, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::tstrf(m, n, ib); }
};
/// On n columns, k rows on top of m.
struct SsssmArgs {
    Index m, n, k, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::ssssm(m, n, k, ib); }
    Index chunks() const { return chunk_count(n, flops()); }
};

template <Scalar T> constexpr double weight_of = flops_per_fma<T> / 2;

} // namespace

template <Scalar T> void getrf(Flow& flow, Index ib, Tile<T> A, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<GetrfArgs>("getrf");
    assert(A.op == Op::none);
    flow.submit(codelet, GetrfArgs{A.rows, A.cols, ib, weight_of<T>}, {readwrite(A), write(pivots)});
}

template <Scalar T> void gessm(Flow& flow, Index ib, Tile<T> A, Pivots pivots, Tile<T> C)
{
    static constexpr Codelet codelet = codelet_of<GessmArgs>("gessm");
    flow.submit(codelet, GessmArgs{C.rows, C.cols, ib, weight_of<T>}, {read(A), read(pivots), readwrite(C)});
}

template <Scalar T> void tstrf(Flow& flow, Index ib, Tile<T> U, Tile<T> A, Elimination<T> by)
{
    static constexpr Codelet codelet = codelet_of<TstrfArgs>("tstrf");
    flow.submit(codelet, TstrfArgs{A.rows, A.cols, ib, weight_of<T>}, {readwrite(U), readwrite(A), write(by)});
}

template <Scalar T> void ssssm(Flow& flow, Index ib, Tile<T> A, Elimination<T> by, Tile<T> C, Tile<T> D)
{
    static constexpr Codelet codelet = codelet_of<SsssmArgs>("ssssm");
    const SsssmArgs args{D.rows, D.cols, A.cols, ib, weight_of<T>};
    flow.submit(codelet, args, {read(A), read(by), readwrite(C), readwrite(D)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf(Flow&, Index, Tile<T>, Pivots);                                                                          \
    template void gessm(Flow&, Index, Tile<T>, Pivots, Tile<T>);                                                                 \
    template void tstrf(Flow&, Index, Tile<T>, Tile<T>, Elimination<T>);                                                         \
    template void ssssm(Flow&, Index, Tile<T>, Elimination<T>, Tile<T>, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
