#include "graph/unit.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/pairwise_lu.hpp"
#include "kernels/tiles/unpivoted_lu.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;
/// Reports the first zero on U's diagonal, if that is what it stays.
template <Scalar T> void report_zero(Info& outcome, Index first, Index n, const T* U, Index ldu)
{
    if (const Index zero = zero_on_diagonal(n, U, ldu)) outcome.report(first + zero);
}

/// Cores, and devices that exchange rows by pivots in their memory.
template <Scalar T> bool updates_lu(const ComputeUnit& unit)
{
    if (unit.kind == UnitKind::core || !unit.kernels) return true; // nothing is computed without kernels
    const auto& kernels = static_cast<const DeviceKernels&>(*unit.kernels);
    return kernels.computes<T>() && kernels.routines<T>().updates_lu();
}

/// Of an m x n tile.
template <Scalar T> struct GetrfArgs {
    Index m, n, first;
    bool last; ///< U's diagonal is final

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        kernels_of(context).getrf(m, n, A.data, A.ld, data_of<Index>(context, 1));
        if (last) report_zero(context.outcome(), first, std::min(m, n), A.data, A.ld);
    }
};

template <Scalar T> struct GessmArgs {
    Index m, n;
    Guard guard;

    Flops flops() const { return weight_of<T> * kernel_flops::gessm(double(m), double(n)); }
    Index chunks() const { return chunk_count(n, flops()); }
    bool can_run_on(const ComputeUnit& unit) const { return updates_lu<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (guard.stopped(context)) return;
        const Stored<const T> L = stored<const T>(context, 0);
        const Stored<T> C = stored<T>(context, 2);
        device_kernels_of<T>(context).gessm(m, n, L.data, L.ld, data_of<const Index>(context, 1), C.data, C.ld);
    }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Stored<const T> L = stored<const T>(context, 0);
        const Index* const pivots = data_of<const Index>(context, 1);
        const Stored<T> C = stored<T>(context, 2);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            T* const part = C.data + r.begin * C.ld;
            blas::laswp(r.size(), part, C.ld, 0, m, pivots);
            kernels_of(context).trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, r.size(), T(1), L.data, L.ld, part, C.ld);
        }
    }
};

/// Of an m x n tile under a triangle.
template <Scalar T> struct TstrfArgs {
    Index m, n, ib, first;
    bool last;

    Flops flops() const { return weight_of<T> * kernel_flops::tstrf(m, n, ib); }
    void run(TaskContext& context)
    {
        const Stored<T> U = stored<T>(context, 0), A = stored<T>(context, 1);
        factor_pair(kernels_of(context), m, U.data, U.ld, A.data, A.ld,
                    PairFactors<T>::in_memory(data_of<void>(context, 2), n, ib));
        if (last) report_zero(context.outcome(), first, n, U.data, U.ld);
    }
};

/// On n columns, k rows on top of m.
template <Scalar T> struct SsssmArgs {
    Index m, n, k, ib;
    Guard guard;

    Flops flops() const { return weight_of<T> * kernel_flops::ssssm(m, n, k, ib); }
    Index chunks() const { return chunk_count(n, flops()); }
    bool can_run_on(const ComputeUnit& unit) const { return updates_lu<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (guard.stopped(context)) return;
        const Stored<const T> A = stored<const T>(context, 0);
        const Stored<T> C = stored<T>(context, 2), D = stored<T>(context, 3);
        device_kernels_of<T>(context).ssssm(m, n, k, ib, A.data, A.ld, data_of<const void>(context, 1), C.data, C.ld, D.data,
                                            D.ld);
    }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Stored<const T> A = stored<const T>(context, 0);
        const auto by = PairFactors<T>::in_memory(data_of<void>(context, 1), k, ib);
        const Stored<T> C = stored<T>(context, 2), D = stored<T>(context, 3);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            apply_pair(kernels_of(context), by, m, r.size(), A.data, A.ld, C.data + r.begin * C.ld, C.ld, D.data + r.begin * D.ld,
                       D.ld);
        }
    }
};

} // namespace

template <Scalar T> void getrf(Flow& flow, Tile<T> A, Pivots pivots, Index first, bool last)
{
    static constexpr Codelet codelet = codelet_of<GetrfArgs<T>>("getrf");
    assert(A.op == Op::none);
    flow.submit(codelet, GetrfArgs<T>{A.rows, A.cols, first, last}, {readwrite(A), write(pivots)});
}

template <Scalar T> void gessm(Flow& flow, Tile<T> A, Pivots pivots, Tile<T> C, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<GessmArgs<T>>("gessm");
    assert(pivots.count == C.rows);
    flow.submit(codelet, GessmArgs<T>{C.rows, C.cols, guard}, {read(A), read(pivots), readwrite(C)});
}

template <Scalar T> void tstrf(Flow& flow, Tile<T> U, Tile<T> A, Elimination<T> by, Index first, bool last)
{
    static constexpr Codelet codelet = codelet_of<TstrfArgs<T>>("tstrf");
    flow.submit(codelet, TstrfArgs<T>{A.rows, A.cols, by.ib, first, last}, {readwrite(U), readwrite(A), write(by)});
}

template <Scalar T> void ssssm(Flow& flow, Tile<T> A, Elimination<T> by, Tile<T> C, Tile<T> D, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<SsssmArgs<T>>("ssssm");
    const SsssmArgs<T> args{D.rows, D.cols, A.cols, by.ib, guard};
    flow.submit(codelet, args, {read(A), read(by), readwrite(C), readwrite(D)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf(Flow&, Tile<T>, Pivots, Index, bool);                                                                    \
    template void gessm(Flow&, Tile<T>, Pivots, Tile<T>, Guard);                                                                 \
    template void tstrf(Flow&, Tile<T>, Tile<T>, Elimination<T>, Index, bool);                                                   \
    template void ssssm(Flow&, Tile<T>, Elimination<T>, Tile<T>, Tile<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
