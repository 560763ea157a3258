#include "kernels/chunking.hpp"
#include "kernels/factor_flops.hpp"
#include "kernels/qr_operations.hpp"
#include "kernels/tile_access.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// Of an m x n tile; `weight`: real operations per operation of the precision.
struct GeqrtArgs {
    Index m, n, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::geqrt(m, n, ib); }
};
struct TsqrtArgs {
    Index m, n, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::tsqrt(m, n, ib); }
};
/// On n columns, k reflectors.
struct UnmqrArgs {
    Index m, n, k, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::unmqr(m, n, k, ib); }
    Index chunks() const { return chunk_count(n, flops()); }
};
struct TsmqrArgs {
    Index m, n, k, ib;
    double weight;
    Flops flops() const { return weight * kernel_flops::tsmqr(m, n, k, ib); }
    Index chunks() const { return chunk_count(n, flops()); }
};

using kernel_flops::weight_of;
} // namespace

template <Scalar S> void geqrt(Flow& flow, Index ib, Tile<S> A, Tile<S> T)
{
    static constexpr Codelet codelet = codelet_of<GeqrtArgs>("geqrt");
    assert(A.op == Op::none && T.op == Op::none);
    flow.submit(codelet, GeqrtArgs{A.rows, A.cols, ib, weight_of<S>}, {readwrite(A), write(T)});
}

template <Scalar S> void unmqr(Flow& flow, Index ib, Tile<S> A, Tile<S> T, Tile<S> C)
{
    static constexpr Codelet codelet = codelet_of<UnmqrArgs>("unmqr");
    const UnmqrArgs args{C.rows, C.cols, std::min(A.rows, A.cols), ib, weight_of<S>};
    flow.submit(codelet, args, {read(A), read(T), readwrite(C)});
}

template <Scalar S> void tsqrt(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T)
{
    static constexpr Codelet codelet = codelet_of<TsqrtArgs>("tsqrt");
    flow.submit(codelet, TsqrtArgs{A.rows, A.cols, ib, weight_of<S>}, {readwrite(R), readwrite(A), write(T)});
}

template <Scalar S> void tsmqr(Flow& flow, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D)
{
    static constexpr Codelet codelet = codelet_of<TsmqrArgs>("tsmqr");
    const TsmqrArgs args{D.rows, D.cols, A.cols, ib, weight_of<S>};
    flow.submit(codelet, args, {read(A), read(T), readwrite(C), readwrite(D)});
}

#define TRC_INSTANTIATE(S)                                                                                                       \
    template void geqrt(Flow&, Index, Tile<S>, Tile<S>);                                                                         \
    template void unmqr(Flow&, Index, Tile<S>, Tile<S>, Tile<S>);                                                                \
    template void tsqrt(Flow&, Index, Tile<S>, Tile<S>, Tile<S>);                                                                \
    template void tsmqr(Flow&, Index, Tile<S>, Tile<S>, Tile<S>, Tile<S>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
