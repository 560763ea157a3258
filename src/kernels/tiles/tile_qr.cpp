#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/pair_qr.hpp"
#include "kernels/tiles/qr_operations.hpp"
#include "kernels/tiles/tile_access.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;

template <Scalar S> ReflectorFactors<S> factors(const TaskContext& context, int access, Index ib)
{
    const Stored<S> T = stored<S>(context, access);
    return {T.data, T.ld, ib};
}

/// Of an m x n tile; `copies` what is below its diagonal.
template <Scalar S> struct GeqrtArgs {
    Index m, n, ib;
    bool copies;

    Flops flops() const { return weight_of<S> * kernel_flops::geqrt(m, n, ib); }
    void run(TaskContext& context)
    {
        const Stored<S> A = stored<S>(context, 0);
        factor_tile(kernels_of(context), m, n, A.data, A.ld, factors<S>(context, 1, ib));
        if (!copies) return;
        const Stored<S> V = stored<S>(context, 2);
        for (Index j = 0; j < std::min(m, n); ++j)
            std::copy(A.data + j + 1 + j * A.ld, A.data + m + j * A.ld, V.data + j + 1 + j * V.ld);
    }
};

/// On n columns, k reflectors.
template <Scalar S> struct UnmqrArgs {
    Index m, n, k, ib;
    Op op;

    Flops flops() const { return weight_of<S> * kernel_flops::unmqr(m, n, k, ib); }
    Index chunks() const { return chunk_count(n, flops()); }
    void run(TaskContext& context)
    {
        const Stored<const S> V = stored<const S>(context, 0);
        const Stored<S> C = stored<S>(context, 2);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            apply_tile(kernels_of(context), op, m, r.size(), k, V.data, V.ld, factors<S>(context, 1, ib), C.data + r.begin * C.ld,
                       C.ld);
        }
    }
};

/// What the kernels of a triangle on top of a tile and on top of a triangle differ in.
template <Below below> struct Kinds;
template <> struct Kinds<Below::tile> {
    static constexpr const char *factored = "tsqrt", *applied = "tsmqr";
    static Flops factor(Index m, Index n, Index ib) { return kernel_flops::tsqrt(m, n, ib); }
    static Flops apply(Index m, Index n, Index k, Index ib) { return kernel_flops::tsmqr(m, n, k, ib); }
};
template <> struct Kinds<Below::triangle> {
    static constexpr const char *factored = "ttqrt", *applied = "ttmqr";
    static Flops factor(Index m, Index n, Index ib) { return kernel_flops::ttqrt(m, n, ib); }
    static Flops apply(Index m, Index n, Index k, Index ib) { return kernel_flops::ttmqr(m, n, k, ib); }
};

template <Scalar S, Below below> struct FactorArgs {
    Index m, n, ib;

    Flops flops() const { return weight_of<S> * Kinds<below>::factor(m, n, ib); }
    void run(TaskContext& context)
    {
        const Stored<S> R = stored<S>(context, 0), A = stored<S>(context, 1);
        factor_below(kernels_of(context), below, m, n, R.data, R.ld, A.data, A.ld, factors<S>(context, 2, ib));
    }
};

/// On n columns, k rows on top of m.
template <Scalar S, Below below> struct ApplyArgs {
    Index m, n, k, ib;
    Op op;

    Flops flops() const { return weight_of<S> * Kinds<below>::apply(m, n, k, ib); }
    Index chunks() const { return chunk_count(n, flops()); }
    void run(TaskContext& context)
    {
        const Stored<const S> V = stored<const S>(context, 0);
        const Stored<S> C = stored<S>(context, 2), D = stored<S>(context, 3);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            apply_below(kernels_of(context), op, below, m, r.size(), k, V.data, V.ld, factors<S>(context, 1, ib),
                        C.data + r.begin * C.ld, C.ld, D.data + r.begin * D.ld, D.ld);
        }
    }
};

template <Below below, Scalar S> void factor(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T)
{
    using Args = FactorArgs<S, below>;
    static constexpr Codelet codelet = codelet_of<Args>(Kinds<below>::factored);
    flow.submit(codelet, Args{A.rows, A.cols, ib}, {readwrite(R), readwrite(A), write(T)});
}
template <Below below, Scalar S> void apply(Flow& flow, Op op, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D)
{
    using Args = ApplyArgs<S, below>;
    static constexpr Codelet codelet = codelet_of<Args>(Kinds<below>::applied);
    flow.submit(codelet, Args{D.rows, D.cols, A.cols, ib, op}, {read(A), read(T), readwrite(C), readwrite(D)});
}

} // namespace

template <Scalar S> void geqrt(Flow& flow, Index ib, Tile<S> A, Tile<S> T, Tile<S> V)
{
    static constexpr Codelet codelet = codelet_of<GeqrtArgs<S>>("geqrt");
    assert(A.op == Op::none && T.op == Op::none);
    const GeqrtArgs<S> args{A.rows, A.cols, ib, V.data != nullptr};
    if (V.data) flow.submit(codelet, args, {readwrite(A), write(T), write(V)});
    else flow.submit(codelet, args, {readwrite(A), write(T)});
}

template <Scalar S> void unmqr(Flow& flow, Op op, Index ib, Tile<S> V, Tile<S> T, Tile<S> C)
{
    static constexpr Codelet codelet = codelet_of<UnmqrArgs<S>>("unmqr");
    const UnmqrArgs<S> args{C.rows, C.cols, std::min(V.rows, V.cols), ib, op};
    flow.submit(codelet, args, {read(V), read(T), readwrite(C)});
}

template <Scalar S> void tsqrt(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T) { factor<Below::tile>(flow, ib, R, A, T); }
template <Scalar S> void ttqrt(Flow& flow, Index ib, Tile<S> R, Tile<S> A, Tile<S> T)
{
    factor<Below::triangle>(flow, ib, R, A, T);
}
template <Scalar S> void tsmqr(Flow& flow, Op op, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D)
{
    apply<Below::tile>(flow, op, ib, A, T, C, D);
}
template <Scalar S> void ttmqr(Flow& flow, Op op, Index ib, Tile<S> A, Tile<S> T, Tile<S> C, Tile<S> D)
{
    apply<Below::triangle>(flow, op, ib, A, T, C, D);
}

#define TRC_INSTANTIATE(S)                                                                                                       \
    template void geqrt(Flow&, Index, Tile<S>, Tile<S>, Tile<S>);                                                                \
    template void unmqr(Flow&, Op, Index, Tile<S>, Tile<S>, Tile<S>);                                                            \
    template void tsqrt(Flow&, Index, Tile<S>, Tile<S>, Tile<S>);                                                                \
    template void ttqrt(Flow&, Index, Tile<S>, Tile<S>, Tile<S>);                                                                \
    template void tsmqr(Flow&, Op, Index, Tile<S>, Tile<S>, Tile<S>, Tile<S>);                                                   \
    template void ttmqr(Flow&, Op, Index, Tile<S>, Tile<S>, Tile<S>, Tile<S>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
