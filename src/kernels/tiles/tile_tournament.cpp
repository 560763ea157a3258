#include "kernels/tiles/candidate_rows.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/row_exchange_operations.hpp"
#include "kernels/tiles/unpivoted_lu.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;
template <Scalar T> Flops elimination(Index m, Index n) { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }

template <Scalar T> void copy(Index m, Index n, const T* A, Index lda, T* B, Index ldb)
{
    for (Index j = 0; j < n; ++j) std::copy_n(A + j * lda, m, B + j * ldb);
}

/// Rows 0 .. m in the order in which partial pivoting on A, m x n, leaves them; `work` as large as A.
template <Scalar T>
std::vector<Index> order_by_pivots(const KernelProvider& kernels, Index m, Index n, const T* A, Index lda, T* work)
{
    std::vector<Index> order(static_cast<std::size_t>(m)), pivots(static_cast<std::size_t>(std::min(m, n)));
    std::iota(order.begin(), order.end(), Index(0));
    copy(m, n, A, lda, work, m);
    kernels.getrf(m, n, work, m, pivots.data());
    for (std::size_t i = 0; i < pivots.size(); ++i) std::swap(order[i], order[std::size_t(pivots[i] - 1)]);
    order.resize(pivots.size());
    return order;
}

/// to <- those rows of A, in this order; `number(i)` is the number of row i.
template <Scalar T, class Number>
void take(const std::vector<Index>& chosen, Index n, const T* A, Index lda, const Number& number, Rows<T> to)
{
    for (std::size_t i = 0; i < chosen.size(); ++i) to.numbers[i] = number(chosen[i]);
    for (Index j = 0; j < n; ++j)
        for (std::size_t i = 0; i < chosen.size(); ++i) to.entries[Index(i) + j * to.ld] = A[chosen[i] + j * lda];
}

/// Of m rows of a panel, of which row `first` of the matrix is the first; each tile begins `step` rows below the one before.
template <Scalar T> struct GroupArgs {
    Index m, n, first, step, nb;
    GridPlace group;

    Flops flops() const { return elimination<T>(m, n); }
    void run(TaskContext& context)
    {
        const Rows<T> to = Rows<T>::of(data_of<void>(context, 0), nb);
        const Whole<const T> together(context, group);
        const Stored<const T> A = *together;
        const WorkMemory work(std::size_t(m * n) * sizeof(T));
        const auto chosen = order_by_pivots(kernels_of(context), m, n, A.data, A.ld, static_cast<T*>(work.data()));
        take(
            chosen, n, A.data, A.ld, [&](Index i) { return first + i / nb * step + i % nb; }, to);
    }
};

/// Of two choices of m1 and m2 rows.
template <Scalar T> struct MatchArgs {
    Index m1, m2, n, nb;

    Flops flops() const { return elimination<T>(m1 + m2, n); }
    void run(TaskContext& context)
    {
        const Rows<T> winners = Rows<T>::of(data_of<void>(context, 0), nb), others = Rows<T>::of(data_of<void>(context, 1), nb);
        const Index m = m1 + m2;
        const WorkMemory work(std::size_t(2 * m * n) * sizeof(T));
        T *const both = static_cast<T*>(work.data()), *const factors = both + m * n;
        copy(m1, n, winners.entries, nb, both, m);
        copy(m2, n, others.entries, nb, both + m1, m);
        std::vector<Index> numbers(winners.numbers, winners.numbers + m1);
        numbers.insert(numbers.end(), others.numbers, others.numbers + m2);
        const auto chosen = order_by_pivots(kernels_of(context), m, n, both, m, factors);
        take(
            chosen, n, both, m, [&](Index i) { return numbers[std::size_t(i)]; }, winners);
    }
};

/// Of a panel of `rows` rows, whose tile on the diagonal is m x n.
template <Scalar T> struct TopArgs {
    Index rows, m, n, first, nb;
    GridPlace panel;

    Flops flops() const { return elimination<T>(m, n); }
    void run(TaskContext& context)
    {
        Index* const pivots = data_of<Index>(context, 0);
        const Whole<T> together(context, panel);
        const Stored<T> A = *together;
        interchanges(Rows<T>::of(data_of<void>(context, 1), nb).numbers, n, first, rows, pivots);
        blas::laswp(n, A.data - first, A.ld, first, first + n, pivots - first);
        factor_unpivoted(kernels_of(context), m, n, A.data, A.ld);
        if (const Index zero = zero_on_diagonal(n, A.data, A.ld)) context.outcome().report(first + zero);
        together.store();
    }
};

} // namespace

template <Scalar T> void tournament(Flow& flow, const ColumnPart<T>& part, Index from, Index tiles, Candidates<T> to)
{
    static constexpr Codelet codelet = codelet_of<GroupArgs<T>>("tournament");
    std::vector<Access> accesses{write(datum(to))};
    const TileGrid<T> group = part.tiles(from, tiles);
    add(accesses, &trencadis::read<T>, group);
    const Index step = part.stride * to.nb;
    const GroupArgs<T> args{group.rows(), group.cols(), part.A.first_row(from), step, to.nb, GridPlace::of(1, group)};
    flow.submit(codelet, args, accesses);
}
template <Scalar T> void tournament(Flow& flow, TileMatrix<T> A, Index k, Index first, Index tiles, Candidates<T> to)
{
    tournament(flow, ColumnPart<T>{A, k, first, 1}, first, tiles, to);
}

template <Scalar T>
void tournament(Flow& flow, Index columns, Candidates<T> winners, Index rows, Candidates<T> others, Index other_rows)
{
    static constexpr Codelet codelet = codelet_of<MatchArgs<T>>("tournament", "match");
    flow.submit(codelet, MatchArgs<T>{rows, other_rows, columns, winners.nb}, {readwrite(datum(winners)), read(datum(others))});
}

template <Scalar T> void getrf_nopiv(Flow& flow, TileMatrix<T> A, Index k, Candidates<T> winners, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<TopArgs<T>>("getrf_nopiv", "tournament");
    const Index first = A.first_row(k);
    std::vector<Access> accesses{write(pivots), read(datum(winners))};
    const TileGrid<T> panel = column_of(A, k, k, A.row_tiles());
    add(accesses, &trencadis::readwrite<T>, panel);
    const TopArgs<T> args{panel.rows(), A(k, k).rows, A(k, k).cols, first, winners.nb, GridPlace::of(2, panel)};
    flow.submit(codelet, args, accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void tournament(Flow&, const ColumnPart<T>&, Index, Index, Candidates<T>);                                          \
    template void tournament(Flow&, TileMatrix<T>, Index, Index, Index, Candidates<T>);                                          \
    template void tournament(Flow&, Index, Candidates<T>, Index, Candidates<T>, Index);                                          \
    template void getrf_nopiv(Flow&, TileMatrix<T>, Index, Candidates<T>, Pivots);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
