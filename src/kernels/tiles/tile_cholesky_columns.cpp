#include "kernels/tiles/cholesky_column_operations.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "matrix/operations.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// A column of the lower triangle as it is stored, or its Hermitian transpose.
struct Seen {
    bool stored; ///< as it is seen

    Uplo uplo() const { return stored ? Uplo::lower : Uplo::upper; }
    Side side() const { return stored ? Side::right : Side::left; }
    template <class T> Op as_seen() const { return stored ? Op::none : herm_op<T>; }
    template <class T> Op transposed() const { return stored ? herm_op<T> : Op::none; }
    /// What is `rows` below the first row.
    template <class E> E* below(Stored<E> column, Index rows) const { return column.data + rows * (stored ? 1 : column.ld); }
    Index rows(Index of_column, Index width) const { return stored ? of_column : width; } ///< of what is stored
    Index cols(Index of_column, Index width) const { return stored ? width : of_column; }
};
template <Scalar T> Seen seen(const TriangleColumn<T>& column) { return {column.tile.op == Op::none}; }

template <Scalar T> struct FactorTriangleColumnArgs {
    Index n, first;
    Seen seen;

    Flops flops() const { return operations::potrf(double(n)).template flops<T>(); }
    void run(TaskContext& context)
    {
        if (context.outcome().reached(first)) return;
        const Stored<T> A = stored<T>(context, 0);
        if (const Index row = kernels_of(context).potrf(seen.uplo(), n, A.data, A.ld)) context.outcome().report(first + row);
    }
    /// As a tile's: a chain of pivots.
    bool can_run_on(const ComputeUnit& unit) const
    {
        if (unit.kind == UnitKind::core) return true;
        return unit.kernels && computes<T>(unit) && static_cast<const DeviceKernels*>(unit.kernels)->routines<T>().factors();
    }
    void run_on_device(TaskContext& context) const
    {
        if (context.outcome().reached(first)) return;
        const Stored<T> A = stored<T>(context, 0);
        const auto told = [&outcome = context.outcome(), first = first](Index row) {
            if (row > 0) outcome.report(first + row);
        };
        device_kernels_of<T>(context).potrf(seen.uplo(), n, A.data, A.ld, told);
    }
};

template <Scalar T> struct SolveTriangleColumnArgs {
    Index n, below;
    Seen seen;
    Guard guard;

    Flops flops() const { return operations::triangular(double(n), double(below)).template flops<T>(); }
    Index chunks() const { return chunk_count(below, flops()); }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Index count = chunks();
        while (const auto c = context.team().next()) solve(kernels_of(context), context, range_of(c, count, below));
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (!guard.stopped(context)) solve(device_kernels_of<T>(context), context, {0, below});
    }
    template <class Unit> void solve(const Unit& unit, const TaskContext& context, Range rows) const
    {
        const Stored<T> A = stored<T>(context, 0);
        unit.trsm(seen.side(), seen.uplo(), herm_op<T>, Diag::non_unit, seen.rows(rows.size(), n), seen.cols(rows.size(), n),
                  T(1), A.data, A.ld, seen.below(A, n + rows.begin), A.ld);
    }
};

/// Operands: the factored column, the updated one.
template <Scalar T> struct UpdateTriangleColumnArgs {
    Index n, below; ///< the updated triangle, and rows below it
    Index k, down;  ///< columns of the factored one, and how far below its first row the triangle is
    Seen seen;
    Guard guard;

    Flops flops() const
    {
        return operations::rank_k(double(n), double(k)).template flops<T>() +
               operations::gemm(double(below), double(n), double(k)).template flops<T>();
    }
    Index chunks() const { return chunk_count(below, flops()); }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            if (c.begin == 0) triangle(kernels_of(context), context);
            rectangle(kernels_of(context), context, range_of(c, count, below));
        }
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (guard.stopped(context)) return;
        triangle(device_kernels_of<T>(context), context);
        rectangle(device_kernels_of<T>(context), context, {0, below});
    }
    template <class Unit> void triangle(const Unit& unit, const TaskContext& context) const
    {
        const Stored<const T> A = stored<const T>(context, 0);
        const Stored<T> C = stored<T>(context, 1);
        unit.herk(seen.uplo(), seen.as_seen<T>(), n, k, Real<T>(-1), seen.below(A, down), A.ld, Real<T>(1), C.data, C.ld);
    }
    template <class Unit> void rectangle(const Unit& unit, const TaskContext& context, Range rows) const
    {
        if (rows.size() == 0) return;
        const Stored<const T> A = stored<const T>(context, 0);
        const Stored<T> C = stored<T>(context, 1);
        const T* const above = seen.below(A, down);
        const T* const beside = seen.below(A, down + n + rows.begin);
        T* const its = seen.below(C, n + rows.begin);
        if (seen.stored) unit.gemm(Op::none, herm_op<T>, rows.size(), n, k, T(-1), beside, A.ld, above, A.ld, T(1), its, C.ld);
        else unit.gemm(herm_op<T>, Op::none, n, rows.size(), k, T(-1), above, A.ld, beside, A.ld, T(1), its, C.ld);
    }
};

/// Operands: the factored column, the right sides.
template <Scalar T> struct SubstituteTriangleColumnArgs {
    Index order, below, first, n;
    bool forward;
    Seen seen;
    Guard guard;

    Flops flops() const
    {
        return operations::triangular(double(order), double(n)).template flops<T>() +
               operations::gemm(double(below), double(n), double(order)).template flops<T>();
    }
    Index chunks() const { return chunk_count(n, flops()); }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Index count = chunks();
        while (const auto c = context.team().next()) solve(kernels_of(context), context, range_of(c, count, n));
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (!guard.stopped(context)) solve(device_kernels_of<T>(context), context, {0, n});
    }
    template <class Unit> void solve(const Unit& unit, const TaskContext& context, Range columns) const
    {
        const Stored<const T> L = stored<const T>(context, 0);
        const Stored<T> B = stored<T>(context, 1);
        T* const own = B.data + first + columns.begin * B.ld;
        const T* const beside = seen.below(L, order);
        const Op by_triangle = forward ? seen.as_seen<T>() : seen.transposed<T>();
        const auto of_triangle = [&] {
            unit.trsm(Side::left, seen.uplo(), by_triangle, Diag::non_unit, order, columns.size(), T(1), L.data, L.ld, own, B.ld);
        };
        if (forward) of_triangle();
        if (below > 0 && forward)
            unit.gemm(seen.as_seen<T>(), Op::none, below, columns.size(), order, T(-1), beside, L.ld, own, B.ld, T(1),
                      own + order, B.ld);
        else if (below > 0)
            unit.gemm(seen.transposed<T>(), Op::none, order, columns.size(), below, T(-1), beside, L.ld, own + order, B.ld, T(1),
                      own, B.ld);
        if (!forward) of_triangle();
    }
};

} // namespace

template <Scalar T> void factor(Flow& flow, const TriangleColumn<T>& column)
{
    static constexpr Codelet codelet = codelet_of<FactorTriangleColumnArgs<T>>("potrf", "column");
    flow.submit(codelet, FactorTriangleColumnArgs<T>{column.order(), column.first, seen(column)}, {readwrite(column.tile)});
}

template <Scalar T> void solve(Flow& flow, const TriangleColumn<T>& column)
{
    if (column.below() == 0) return;
    static constexpr Codelet codelet = codelet_of<SolveTriangleColumnArgs<T>>("trsm", "below");
    const Guard guard{column.first + column.order()};
    flow.submit(codelet, SolveTriangleColumnArgs<T>{column.order(), column.below(), seen(column), guard},
                {readwrite(column.tile)});
}

template <Scalar T> void update(Flow& flow, const TriangleColumn<T>& A, const TriangleColumn<T>& C, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<UpdateTriangleColumnArgs<T>>("gemm", "column");
    const UpdateTriangleColumnArgs<T> args{C.order(), C.below(), A.order(), C.first - A.first, seen(C), guard};
    flow.submit(codelet, args, {read(A.tile), readwrite(C.tile)});
}

template <Scalar T>
void substitute(Flow& flow, bool forward, const TriangleColumn<T>& L, Tile<T> B, Guard guard, const TriangleColumn<T>* after)
{
    static constexpr Codelet codelet = codelet_of<SubstituteTriangleColumnArgs<T>>("trsm", "triangle");
    assert(B.op == Op::none);
    const SubstituteTriangleColumnArgs<T> args{L.order(), L.below(), L.first, B.cols, forward, seen(L), guard};
    if (after && after->first != L.first) flow.submit(codelet, args, {read(L.tile), readwrite(B), read(after->tile)});
    else flow.submit(codelet, args, {read(L.tile), readwrite(B)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void factor(Flow&, const TriangleColumn<T>&);                                                                       \
    template void solve(Flow&, const TriangleColumn<T>&);                                                                        \
    template void update(Flow&, const TriangleColumn<T>&, const TriangleColumn<T>&, Guard);                                      \
    template void substitute(Flow&, bool, const TriangleColumn<T>&, Tile<T>, Guard, const TriangleColumn<T>*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
