#include "blas/block_reflector.hpp"
#include "blas/level3.hpp"
#include "blas/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

constexpr Index block = 64; ///< reflectors with one T

/// Calls visit(first, count) for blocks of k reflectors, from the first or from the last one.
template <class Visit> void each_block(Index k, bool from_first, const Visit& visit)
{
    const Index blocks = (k + block - 1) / block;
    for (Index b = 0; b < blocks; ++b) {
        const Index first = (from_first ? b : blocks - 1 - b) * block;
        visit(first, std::min(block, k - first));
    }
}

/// C <- op(Q) C or C op(Q) with all k reflectors.
template <Scalar T> void apply_all(Side side, Op op, const Reflectors<T>& all, const T* tau, Index m, Index n, T* C, Index ldc)
{
    T* const factor = scratch<T>(Buffer::compact, block * block);
    const bool left = side == Side::left, from_first = left == (op != Op::none);
    each_block(all.k, from_first, [&](Index first, Index count) {
        const Reflectors<T> some = all.part(first, count);
        make_factor(some, tau + first, factor, block);
        if (left) apply(side, op, some, factor, block, m - first, n, C + first, ldc);
        else apply(side, op, some, factor, block, m, n - first, C + first * ldc, ldc);
    });
}

template <Scalar T> Reflectors<T> columns_of(Index n, Index k, const T* A, Index lda)
{
    return {Direction::forward, Storage::columns, n, k, A, lda};
}
template <Scalar T> Reflectors<T> rows_of(Index n, Index k, const T* A, Index lda)
{
    return {Direction::forward, Storage::rows, n, k, A, lda};
}

/// Rows (columns) [first, last) of an m x n matrix <- those of the identity.
template <Scalar T> void set_columns(Index m, Index first, Index last, T* A, Index lda)
{
    for (Index j = first; j < last; ++j) {
        std::fill_n(A + j * lda, m, T(0));
        A[j * (lda + 1)] = T(1);
    }
}
template <Scalar T> void set_rows(Index first, Index last, Index n, T* A, Index lda)
{
    for (Index j = 0; j < n; ++j)
        for (Index i = first; i < last; ++i) A[i + j * lda] = T(Real<T>(i == j));
}

/// S <- T V_1^H, an upper triangle, with the unit lower triangle V_1 of reflectors that are columns.
template <Scalar T> void factor_by_top(const Reflectors<T>& v, T* S, Index lds)
{
    for (Index j = 0; j < v.k; ++j) std::fill(S + j + 1 + j * lds, S + v.k + j * lds, T(0));
    trmm(Side::right, v.uplo(), v.adjoint(), Diag::unit, v.k, v.k, T(1), v.triangle(), v.ldv, S, lds);
}

/// The first k columns of I - V T V^H over V: I - V_1 S on top of -V_2 S.
template <Scalar T> void form_columns(Index m, Index k, T* A, Index lda, T* S, Index lds)
{
    const Reflectors<T> v = columns_of(m, k, A, lda);
    factor_by_top(v, S, lds);
    if (m > k) trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, m - k, k, T(-1), S, lds, A + k, lda);
    trmm(Side::left, v.uplo(), v.plain(), Diag::unit, k, k, T(-1), A, lda, S, lds);
    for (Index j = 0; j < k; ++j) {
        std::copy_n(S + j * lds, k, A + j * lda);
        A[j * (lda + 1)] += T(1);
    }
}
/// The same as rows, over V^H: their conjugate transpose.
template <Scalar T> void form_rows(Index k, Index n, T* A, Index lda, T* S, Index lds)
{
    const Reflectors<T> v = rows_of(n, k, A, lda);
    factor_by_top(v, S, lds);
    if (n > k) trmm(Side::left, Uplo::upper, Op::conj_trans, Diag::non_unit, k, n - k, T(-1), S, lds, A + k * lda, lda);
    trmm(Side::left, v.uplo(), v.plain(), Diag::unit, k, k, T(-1), A, lda, S, lds);
    for (Index j = 0; j < k; ++j) {
        for (Index i = 0; i < k; ++i) A[j + i * lda] = conjugate(S[i + j * lds]);
        A[j * (lda + 1)] += T(1);
    }
}

} // namespace

template <Scalar T> void orgqr(Index m, Index n, Index k, T* A, Index lda, const T* tau)
{
    if (n <= 0) return;
    set_columns(m, k, n, A, lda);
    T* const factor = scratch<T>(Buffer::compact, block * block);
    each_block(k, false, [&](Index first, Index count) {
        T* const corner = A + first * (lda + 1);
        const Index rows = m - first;
        const Reflectors<T> v = columns_of(rows, count, corner, lda);
        make_factor(v, tau + first, factor, block);
        apply(Side::left, Op::none, v, factor, block, rows, n - first - count, corner + count * lda, lda);
        form_columns(rows, count, corner, lda, factor, block);
        for (Index j = first; j < first + count; ++j) std::fill_n(A + j * lda, first, T(0));
    });
}

template <Scalar T> void orglq(Index m, Index n, Index k, T* A, Index lda, const T* tau)
{
    if (m <= 0) return;
    set_rows(k, m, n, A, lda);
    T* const factor = scratch<T>(Buffer::compact, block * block);
    each_block(k, false, [&](Index first, Index count) {
        T* const corner = A + first * (lda + 1);
        const Index cols = n - first;
        const Reflectors<T> v = rows_of(cols, count, corner, lda);
        make_factor(v, tau + first, factor, block);
        apply(Side::right, Op::conj_trans, v, factor, block, m - first - count, cols, corner + count, lda);
        form_rows(count, cols, corner, lda, factor, block);
        for (Index j = 0; j < first; ++j) std::fill_n(A + first + j * lda, count, T(0));
    });
}

template <Scalar T> void ormqr(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc)
{
    if (m <= 0 || n <= 0 || k <= 0) return;
    apply_all(side, op, columns_of(side == Side::left ? m : n, k, A, lda), tau, m, n, C, ldc);
}

/// Q is the conjugate transpose of what the rows' reflectors make.
template <Scalar T> void ormlq(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc)
{
    if (m <= 0 || n <= 0 || k <= 0) return;
    const Op adjoint = op == Op::none ? Op::conj_trans : Op::none;
    apply_all(side, adjoint, rows_of(side == Side::left ? m : n, k, A, lda), tau, m, n, C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void orgqr(Index, Index, Index, T*, Index, const T*);                                                               \
    template void orglq(Index, Index, Index, T*, Index, const T*);                                                               \
    template void ormqr(Side, Op, Index, Index, Index, const T*, Index, const T*, T*, Index);                                    \
    template void ormlq(Side, Op, Index, Index, Index, const T*, Index, const T*, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
