#pragma once
#include "blas/factorizations/lu.hpp"
#include "kernels/providers/routines.hpp"

namespace trencadis {

/// A = P L U in place on the level 3 of a provider without LAPACK: halves of the columns, so that nearly all of the work is in
/// matrix products; a few columns are factored by our own. LAPACK's info. Toledo 1997.
template <Scalar T> Index recursive_getrf(const Routines<T>& kernels, Index m, Index n, T* A, Index lda, Index* pivots)
{
    constexpr Index leaf = 16;
    if (n > m) { // A = P L [U, L^-1 P^T rest]
        const Index info = recursive_getrf(kernels, m, m, A, lda, pivots);
        T* const rest = A + m * lda;
        blas::laswp(n - m, rest, lda, 0, m, pivots);
        kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, n - m, T(1), A, lda, rest, lda);
        return info;
    }
    if (n <= leaf) return blas::getrf(m, n, A, lda, pivots);
    const Index n1 = (n / 2 + leaf - 1) / leaf * leaf, n2 = n - n1, m2 = m - n1;
    T *const A21 = A + n1, *const A12 = A + n1 * lda, *const A22 = A12 + n1;
    const Index info = recursive_getrf(kernels, m, n1, A, lda, pivots);
    blas::laswp(n2, A12, lda, 0, n1, pivots);
    kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, n1, n2, T(1), A, lda, A12, lda);
    kernels.gemm(Op::none, Op::none, m2, n2, n1, T(-1), A21, lda, A12, lda, T(1), A22, lda);
    const Index later = recursive_getrf(kernels, m2, n2, A22, lda, pivots + n1);
    blas::laswp(n1, A21, lda, 0, n2, pivots + n1);
    for (Index i = n1; i < n; ++i) pivots[i] += n1;
    return info ? info : later ? later + n1 : 0;
}

} // namespace trencadis
