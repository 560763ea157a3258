#include "kernels/tiles/getri_operations.hpp"
#include "kernels/tiles/inverse_operations.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {
template <Scalar T> void exchange_columns(Index m, Index n, T* A, Index lda, const Index* pivots)
{
    for (Index j = n; j-- > 0;)
        if (const Index p = pivots[j] - 1; p != j) std::swap_ranges(A + j * lda, A + j * lda + m, A + p * lda);
}

namespace {

/// W <- A and A <- 0, below the diagonal or all of it.
template <Scalar T> void move_lower(Index m, Index n, T* A, Index lda, T* W, Index ldw, bool strict)
{
    for (Index j = 0; j < n; ++j) {
        T* const column = A + j * lda;
        const Index begin = strict ? std::min(j + 1, m) : 0;
        std::copy(column + begin, column + m, W + begin + j * ldw);
        std::fill(column + begin, column + m, T(0));
    }
}

} // namespace

template <Scalar T> void getri(const KernelProvider& kernels, Index n, T* A, Index lda, const Index* pivots, T* W)
{
    task::TriangleInverse<T>{kernels, Uplo::upper, Diag::non_unit}.run(n, A, lda);
    move_lower(n, n, A, lda, W, n, true);
    kernels.trsm(Side::right, Uplo::lower, Op::none, Diag::unit, n, n, T(1), W, n, A, lda);
    exchange_columns(n, n, A, lda, pivots);
}

namespace task {
namespace {

template <Scalar T> struct MoveArgs {
    Index m, n;
    bool strict;

    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0), W = stored<T>(context, 1);
        trencadis::move_lower(m, n, A.data, A.ld, W.data, W.ld, strict);
    }
};

template <Scalar T> struct ExchangeArgs {
    Index m, n;
    GridPlace row;

    void run(TaskContext& context)
    {
        const Whole<T> A(context, row);
        trencadis::exchange_columns(m, n, A->data, A->ld, data_of<const Index>(context, 0));
        A.store();
    }
};

} // namespace

/// All products of a step wait for it.
constexpr TaskOptions urgent{.priority = 1e6};

template <Scalar T> void move_lower(Flow& flow, Tile<T> A, Tile<T> W, bool strict)
{
    static constexpr Codelet codelet = codelet_of<MoveArgs<T>>("copy", "getri");
    flow.submit(codelet, MoveArgs<T>{A.rows, A.cols, strict}, {readwrite(A), write(W)}, urgent);
}

template <Scalar T> void exchange_columns(Flow& flow, TileMatrix<T> A, Index i, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<ExchangeArgs<T>>("laswp", "getri");
    std::vector<Access> accesses{read(pivots)};
    const TileGrid<T> row = row_of(A, i, 0, A.col_tiles());
    add(accesses, &trencadis::readwrite<T>, row);
    flow.submit(codelet, ExchangeArgs<T>{A(i, 0).rows, A.cols(), GridPlace::of(1, row)}, accesses);
}

} // namespace task

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void exchange_columns(Index, Index, T*, Index, const Index*);                                                       \
    template void getri(const KernelProvider&, Index, T*, Index, const Index*, T*);                                              \
    template void task::move_lower(Flow&, Tile<T>, Tile<T>, bool);                                                               \
    template void task::exchange_columns(Flow&, TileMatrix<T>, Index, Pivots);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
