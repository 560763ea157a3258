#include "blas/factorizations/inverse_pivot.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Columns that are factored in the work area: what is read for each column should stay in the first cache. All of a small
/// matrix, where the
/// kernel divides and rounds as the formulas stand, so that it notices that a matrix is singular as often as LAPACK's does.
template <Scalar T> Index leaf_width(Index m)
{
    constexpr Index small = 32;
    return m <= small ? small : m * Index(sizeof(T)) * 16 <= 40 << 10 ? 16 : 8;
}

template <Scalar T> Index factor_leaf(Index m, Index n, T* A, Index lda, Index* pivots)
{
    constexpr Index line = 64 / Index(sizeof(T)), conflicting = 512 / Index(sizeof(T));
    Index ldw = (m + line - 1) / line * line;
    if (ldw % conflicting == 0) ldw += line;
    const Index ldu = (n + line - 1) / line * line;
    Real<T>* const work = scratch<Real<T>>(Buffer::factor, planes<T> * (ldw * n + ldu * (n + 1)));
    return setup<T>().kernel.factor_columns({m, n, A, lda, pivots, work, ldw, inverse_pivot<T>, divide_by_pivot<T>});
}

/// Columns behind k that have been factored: A12 <- L11^-1 P A12, A22 <- A22 - A21 A12, m rows and n columns of both together.
template <Scalar T>
void update(Index m, Index n, Index k, const T* L, Index lda, const Index* pivots, T* A, const Helpers& helpers)
{
    const Flops flops = (is_complex<T> ? 8.0 : 2.0) * double(k) * double(n) * (double(m) - double(k) / 2);
    const Bytes element = sizeof(T);
    in_slices(helpers, {n, flops, element * double(m * k), element * double(m * n)}, [&](Index first, Index count) {
        T *const A12 = A + first * lda, *const A22 = A12 + k;
        laswp(count, A12, lda, 0, k, pivots);
        trsm(Side::left, Uplo::lower, Op::none, Diag::unit, k, count, T(1), L, lda, A12, lda);
        if (m > k) gemm(Op::none, Op::none, m - k, count, k, T(-1), L + k, lda, A12, lda, T(1), A22, lda);
    });
}

template <Scalar T> Index factor_tall(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers);

/// The halves of the columns, one after the other.
template <Scalar T> Index factor_halves(Index m, Index n, Index n1, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index n2 = n - n1, m2 = m - n1;
    T *const A21 = A + n1, *const A22 = A21 + n1 * lda;
    const Index info = factor_tall(m, n1, A, lda, pivots, helpers);
    update(m, n2, n1, A, lda, pivots, A + n1 * lda, helpers);
    const Index later = factor_tall(m2, n2, A22, lda, pivots + n1, helpers);
    laswp(n1, A21, lda, 0, n2, pivots + n1);
    for (Index i = n1; i < n; ++i) pivots[i] += n1;
    return info ? info : later ? later + n1 : 0;
}

/// m >= n.
template <Scalar T> Index factor_tall(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index leaf = leaf_width<T>(m);
    if (n <= leaf) return factor_leaf(m, n, A, lda, pivots);
    return factor_halves(m, n, (n / 2 + leaf - 1) / leaf * leaf, A, lda, pivots, helpers);
}

} // namespace

template <Scalar T> Index getrf(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index k = std::min(m, n);
    if (k <= 0) return 0;
    const Index info = factor_tall(m, k, A, lda, pivots, helpers);
    if (n > m) update(m, n - m, m, A, lda, pivots, A + m * lda, helpers);
    return info;
}

#define TRC_INSTANTIATE(T) template Index getrf(Index, Index, T*, Index, Index*, const Helpers&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
