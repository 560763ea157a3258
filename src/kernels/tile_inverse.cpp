#include "kernels/inverse_operations.hpp"
#include "kernels/lu_access.hpp"
#include "kernels/operands.hpp"
#include "kernels/tile_access.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {
namespace {

/// Column by column: U^-1 e_j from the inverse of what is left of it.
template <Scalar T> void invert_columns(Index n, T* A, Index lda)
{
    for (Index j = 0; j < n; ++j) {
        T* const column = A + j * lda;
        const T inverse = T(1) / column[j];
        for (Index i = 0; i < j; ++i) { // the triangle left of the column is inverted already
            T sum = A[i + i * lda] * column[i];
            for (Index k = i + 1; k < j; ++k) sum += A[i + k * lda] * column[k];
            column[i] = -inverse * sum;
        }
        column[j] = inverse;
    }
}

} // namespace

template <Scalar T> void invert_upper(const KernelProvider& kernels, Index n, T* A, Index lda)
{
    constexpr Index leaf = 16;
    if (n <= leaf) return invert_columns(n, A, lda);
    const Index n1 = (n / 2 + leaf - 1) / leaf * leaf, n2 = n - n1;
    T *const A12 = A + n1 * lda, *const A22 = A12 + n1;
    kernels.trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n1, n2, T(-1), A, lda, A12, lda);
    kernels.trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, n1, n2, T(1), A22, lda, A12, lda);
    invert_upper(kernels, n1, A, lda);
    invert_upper(kernels, n2, A22, lda);
}

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
    invert_upper(kernels, n, A, lda);
    move_lower(n, n, A, lda, W, n, true);
    kernels.trsm(Side::right, Uplo::lower, Op::none, Diag::unit, n, n, T(1), W, n, A, lda);
    exchange_columns(n, n, A, lda, pivots);
}

namespace task {
namespace {

template <Scalar T> struct InvertArgs {
    Index n;

    Flops flops() const { return flops_per_fma<T> / 2 * double(n) * double(n) * double(n) / 3; }
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        trencadis::invert_upper(kernels_of(context), n, A.data, A.ld);
    }
};

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

    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 1);
        trencadis::exchange_columns(m, n, A.data, A.ld, data_of<const Index>(context, 0));
    }
};

} // namespace

template <Scalar T> void invert_upper(Flow& flow, Tile<T> A)
{
    static constexpr Codelet codelet = codelet_of<InvertArgs<T>>("trtri");
    flow.submit(codelet, InvertArgs<T>{A.rows}, {readwrite(A)});
}

/// All products of a step wait for it.
constexpr TaskOptions urgent{.priority = 1e6};

template <Scalar T> void move_lower(Flow& flow, Tile<T> A, Tile<T> W, bool strict)
{
    static constexpr Codelet codelet = codelet_of<MoveArgs<T>>("copy");
    flow.submit(codelet, MoveArgs<T>{A.rows, A.cols, strict}, {readwrite(A), write(W)}, urgent);
}

template <Scalar T> void exchange_columns(Flow& flow, TileMatrix<T> A, Index i, Pivots pivots)
{
    static constexpr Codelet codelet = codelet_of<ExchangeArgs<T>>("laswp");
    std::vector<Access> accesses{read(pivots)};
    for (Index j = 0; j < A.col_tiles(); ++j) accesses.push_back(readwrite(A(i, j)));
    flow.submit(codelet, ExchangeArgs<T>{A(i, 0).rows, A.cols()}, accesses);
}

} // namespace task

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void invert_upper(const KernelProvider&, Index, T*, Index);                                                         \
    template void exchange_columns(Index, Index, T*, Index, const Index*);                                                       \
    template void getri(const KernelProvider&, Index, T*, Index, const Index*, T*);                                              \
    template void task::invert_upper(Flow&, Tile<T>);                                                                            \
    template void task::move_lower(Flow&, Tile<T>, Tile<T>, bool);                                                               \
    template void task::exchange_columns(Flow&, TileMatrix<T>, Index, Pivots);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
