#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/column_lu.hpp"
#include "kernels/tiles/column_operations.hpp"
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

/// In 32 bits, whatever that is to others; always used as a whole.
Datum datum(Interchanges interchanges)
{
    return Datum(interchanges.data, double(interchanges.count) * double(sizeof(std::int32_t)));
}

/// Cores, and devices that factor LU.
template <Scalar T> bool factors_columns(const ComputeUnit& unit)
{
    if (unit.kind == UnitKind::core || !unit.kernels) return true; // nothing is computed without kernels
    const auto& kernels = static_cast<const DeviceKernels&>(*unit.kernels);
    return kernels.computes<T>() && kernels.routines<T>().factors_lu();
}

/// Operands: the column, its interchanges.
template <Scalar T> struct FactorColumnArgs {
    Index m, n, first;

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        const Index zero = factor_column(kernels_of(context), m, n, A.data + first, A.ld, data_of<std::int32_t>(context, 1));
        if (zero > 0) context.outcome().report(first + zero);
    }
    bool can_run_on(const ComputeUnit& unit) const { return factors_columns<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        const Stored<T> A = stored<T>(context, 0);
        const auto told = [&outcome = context.outcome(), first = first](Index zero) {
            if (zero > 0) outcome.report(first + zero);
        };
        device_kernels_of<T>(context).getrf(m, n, A.data + first, A.ld, data_of<std::int32_t>(context, 1), told);
    }
};

/// Columns of a matrix, from its first row on.
template <Scalar T> struct ColumnsAt {
    T* data;
    Index ld, cols;
};
/// Block columns of a running task, by the number of the first one's access.
struct ColumnPlace {
    std::int32_t first, count;

    template <Scalar T> ColumnsAt<T> at(const TaskContext& context, Index j) const
    {
        const Operand column = context.operand(first + int(j));
        return {static_cast<T*>(column.data), column.ld, column.cols};
    }
    /// The first `columns` of them, as few as they are where those that lie together are one. Narrow ones stay by themselves, for
    /// they have other bits then.
    template <Scalar T> std::vector<ColumnsAt<T>> together(const TaskContext& context, Index columns) const
    {
        std::vector<ColumnsAt<T>> runs;
        for (Index j = 0; j < columns; ++j) {
            const ColumnsAt<T> next = at<T>(context, j);
            const bool joins = !runs.empty() && next.cols >= narrowest_chunk && next.ld == runs.back().ld &&
                               next.data == runs.back().data + runs.back().cols * next.ld;
            if (joins) runs.back().cols += next.cols;
            else runs.push_back(next);
        }
        return runs;
    }
};

/// What updates and substitutions have in common. Operands: the panel, its interchanges (of updates), the columns.
struct ColumnStep {
    Index order, others, n; ///< of the panel's triangle; rows above or below it that are updated; columns in all
    Index first;            ///< row of the matrix that the triangle begins at
    ColumnPlace columns;
    Guard guard;

    template <Scalar T> Flops flops() const
    {
        return weight_of<T> * kernel_flops::gessm(double(order), double(n)) +
               operations::gemm(double(others), double(n), double(order)).template flops<T>();
    }
    /// Of several block columns each is one chunk, so that none has other bits than by itself.
    Index chunks(Flops flops) const { return columns.count > 1 ? columns.count : chunk_count(n, flops); }
    /// Calls visit(columns) for each piece of work that is this member's.
    template <Scalar T, class Visit> void share(TaskContext& context, Flops flops, const Visit& visit) const
    {
        const Index count = chunks(flops);
        while (const auto c = context.team().next()) {
            if (columns.count > 1) {
                for (Index j = c.begin; j < c.end; ++j) visit(columns.at<T>(context, j));
                continue;
            }
            const Range r = range_of(c, count, n);
            const ColumnsAt<T> all = columns.at<T>(context, 0);
            visit(ColumnsAt<T>{all.data + r.begin * all.ld, all.ld, r.size()});
        }
    }
};

template <Scalar T> struct UpdateColumnsArgs {
    ColumnStep shape;

    Flops flops() const { return shape.flops<T>(); }
    Index chunks() const { return shape.chunks(flops()); }
    void run(TaskContext& context)
    {
        if (shape.guard.stopped(context)) return;
        const KernelProvider& kernels = kernels_of(context);
        const Stored<const T> L = triangle(context);
        const auto* const interchanges = data_of<const std::int32_t>(context, 1);
        const Index order = shape.order;
        shape.share<T>(context, flops(), [&](const ColumnsAt<T>& B) {
            T* const top = B.data + shape.first;
            apply_interchanges(B.cols, top, B.ld, order, interchanges);
            kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, order, B.cols, T(1), L.data, L.ld, top, B.ld);
            if (shape.others > 0)
                kernels.gemm(Op::none, Op::none, shape.others, B.cols, order, T(-1), L.data + order, L.ld, top, B.ld, T(1),
                             top + order, B.ld);
        });
    }
    bool can_run_on(const ComputeUnit& unit) const { return factors_columns<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (shape.guard.stopped(context)) return;
        const DeviceRoutines<T>& on = device_kernels_of<T>(context);
        const Stored<const T> L = triangle(context);
        const auto* const interchanges = data_of<const std::int32_t>(context, 1);
        const Index order = shape.order, rows = order + shape.others;
        for (const ColumnsAt<T>& B : shape.columns.together<T>(context, shape.columns.count)) {
            T* const top = B.data + shape.first;
            on.laswp(rows, B.cols, top, B.ld, order, interchanges);
            on.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, order, B.cols, T(1), L.data, L.ld, top, B.ld);
            if (shape.others > 0)
                on.gemm(Op::none, Op::none, shape.others, B.cols, order, T(-1), L.data + order, L.ld, top, B.ld, T(1),
                        top + order, B.ld);
        }
    }
    Stored<const T> triangle(const TaskContext& context) const
    {
        const Stored<const T> column = stored<const T>(context, 0);
        return {column.data + shape.first, column.ld};
    }
};

template <Scalar T> struct SubstituteColumnsArgs {
    ColumnStep shape;

    Flops flops() const { return shape.flops<T>(); }
    Index chunks() const { return shape.chunks(flops()); }
    void run(TaskContext& context)
    {
        if (shape.guard.stopped(context)) return;
        const KernelProvider& kernels = kernels_of(context);
        const Stored<const T> U = stored<const T>(context, 0);
        shape.share<T>(context, flops(), [&](const ColumnsAt<T>& B) {
            T* const own = B.data + shape.first;
            kernels.trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, shape.order, B.cols, T(1), U.data + shape.first, U.ld,
                         own, B.ld);
            if (shape.others > 0)
                kernels.gemm(Op::none, Op::none, shape.others, B.cols, shape.order, T(-1), U.data, U.ld, own, B.ld, T(1), B.data,
                             B.ld);
        });
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (shape.guard.stopped(context)) return;
        const DeviceRoutines<T>& on = device_kernels_of<T>(context);
        const Stored<const T> U = stored<const T>(context, 0);
        for (const ColumnsAt<T>& B : shape.columns.together<T>(context, shape.columns.count)) {
            T* const own = B.data + shape.first;
            on.trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, shape.order, B.cols, T(1), U.data + shape.first, U.ld, own,
                    B.ld);
            if (shape.others > 0)
                on.gemm(Op::none, Op::none, shape.others, B.cols, shape.order, T(-1), U.data, U.ld, own, B.ld, T(1), B.data,
                        B.ld);
        }
    }
};

/// Operands: the block columns [begin, end), then the interchanges of the panels behind the first of them.
template <Scalar T> struct ExchangeColumnsArgs {
    Index m, n, nb; ///< of the matrix
    Index begin;
    ColumnPlace columns;
    std::int32_t panels;

    /// Calls visit(the first row of a panel, how many interchanges, which, how many of the columns) for each of the panels.
    template <class Visit> void each_panel(const TaskContext& context, const Visit& visit) const
    {
        for (int p = 0; p < panels; ++p) {
            const Index first = (begin + 1 + p) * nb, count = std::min({nb, m - first, n - first});
            const auto* const interchanges = data_of<const std::int32_t>(context, columns.first + columns.count + p);
            visit(first, count, interchanges, std::min<Index>(columns.count, p + 1));
        }
    }
    Flops flops() const
    {
        Flops sum = 0;
        for (Index p = 0; p < panels; ++p) {
            const Index first = (begin + 1 + p) * nb;
            sum += kernel_flops::laswp(double(std::min({nb, m - first, n - first})),
                                       double(std::min<Index>(columns.count, p + 1) * nb));
        }
        return sum;
    }
    void run(TaskContext& context)
    {
        each_panel(context, [&](Index first, Index count, const std::int32_t* interchanges, Index before) {
            for (Index j = 0; j < before; ++j) {
                const ColumnsAt<T> A = columns.at<T>(context, j);
                apply_interchanges(A.cols, A.data + first, A.ld, count, interchanges);
            }
        });
    }
    bool can_run_on(const ComputeUnit& unit) const { return factors_columns<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        const DeviceRoutines<T>& on = device_kernels_of<T>(context);
        each_panel(context, [&](Index first, Index count, const std::int32_t* interchanges, Index before) {
            for (const ColumnsAt<T>& A : columns.together<T>(context, before))
                on.laswp(m - first, A.cols, A.data + first, A.ld, count, interchanges);
        });
    }
};

struct TellPivotsArgs {
    Index first;

    void run(TaskContext& context)
    {
        const Operand pivots = context.operand(0);
        const auto* const interchanges = data_of<const std::int32_t>(context, 1);
        std::transform(interchanges, interchanges + pivots.rows, static_cast<Index*>(pivots.data),
                       [this](std::int32_t row) { return first + row; });
    }
};

template <Scalar T>
ColumnStep shape_of(const Panel<T>& panel, Index others, const TileGrid<T>& columns, std::size_t first_access, Guard guard)
{
    assert(columns.down == 1 && panel.column.op == Op::none);
    const ColumnPlace place{std::int32_t(first_access), std::int32_t(columns.tiles.size())};
    return {panel.interchanges.count, others, columns.cols(), panel.first, place, guard};
}

} // namespace

template <Scalar T> void factor(Flow& flow, const Panel<T>& panel, const TaskOptions& options)
{
    static constexpr Codelet codelet = codelet_of<FactorColumnArgs<T>>("getrf_panel", "column");
    const FactorColumnArgs<T> args{panel.column.rows - panel.first, panel.column.cols, panel.first};
    flow.submit(codelet, args, {readwrite(panel.column), write(datum(panel.interchanges))}, options);
}

template <Scalar T>
void update(Flow& flow, const Panel<T>& panel, const TileGrid<T>& columns, const TaskOptions& options, Guard guard,
            const Interchanges* after)
{
    static constexpr Codelet codelet = codelet_of<UpdateColumnsArgs<T>>("lu_update");
    std::vector<Access> accesses{read(panel.column), read(datum(panel.interchanges))};
    const Index below = panel.column.rows - panel.first - panel.interchanges.count;
    const UpdateColumnsArgs<T> args{shape_of(panel, below, columns, accesses.size(), guard)};
    add(accesses, &trencadis::readwrite<T>, columns);
    if (after && after->data != panel.interchanges.data) accesses.push_back(read(datum(*after)));
    flow.submit(codelet, args, accesses, options);
}

template <Scalar T> void substitute(Flow& flow, const Panel<T>& panel, const TileGrid<T>& columns, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<SubstituteColumnsArgs<T>>("trsm", "column");
    std::vector<Access> accesses{read(panel.column)};
    const SubstituteColumnsArgs<T> args{shape_of(panel, panel.first, columns, accesses.size(), guard)};
    add(accesses, &trencadis::readwrite<T>, columns);
    flow.submit(codelet, args, accesses);
}

template <Scalar T>
void exchange_behind(Flow& flow, TileMatrix<T> A, Index begin, Index end, std::span<const Interchanges> panels)
{
    static constexpr Codelet codelet = codelet_of<ExchangeColumnsArgs<T>>("laswp", "column");
    std::vector<Access> accesses;
    add(accesses, &trencadis::readwrite<T>, row_of(A, 0, begin, end));
    const ColumnPlace place{0, std::int32_t(end - begin)};
    for (const Interchanges& one : panels.subspan(std::size_t(begin + 1))) accesses.push_back(read(datum(one)));
    const std::int32_t behind(std::int32_t(Index(panels.size()) - begin - 1));
    flow.submit(codelet, ExchangeColumnsArgs<T>{A.rows(), A.cols(), A(0, 0).cols, begin, place, behind}, accesses);
}

void tell(Flow& flow, Interchanges interchanges, Index first, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<TellPivotsArgs>("copy", "pivots");
    flow.submit(codelet, TellPivotsArgs{first}, {write(pivots), read(datum(interchanges))});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void factor(Flow&, const Panel<T>&, const TaskOptions&);                                                            \
    template void update(Flow&, const Panel<T>&, const TileGrid<T>&, const TaskOptions&, Guard, const Interchanges*);            \
    template void substitute(Flow&, const Panel<T>&, const TileGrid<T>&, Guard);                                                 \
    template void exchange_behind(Flow&, TileMatrix<T>, Index, Index, std::span<const Interchanges>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
