#pragma once
#include "kernels/providers/routines.hpp"
#include "matrix/conjugate.hpp"

#include <cmath>
#include <complex>

namespace trencadis {

/// Column-by-column Cholesky of a small lower triangle; LAPACK's info.
template <Scalar T> Index unblocked_potrf_lower(Index n, T* A, Index lda)
{
    for (Index j = 0; j < n; ++j) {
        T* column = A + j * lda;
        const Real<T> pivot = std::real(column[j]);
        if (!(pivot > 0)) { // NaN as well
            column[j] = pivot;
            return j + 1;
        }
        const Real<T> root = std::sqrt(pivot);
        column[j] = root;
        for (Index i = j + 1; i < n; ++i) column[i] /= root;
        for (Index c = j + 1; c < n; ++c) {
            const T factor = conjugate(column[c]);
            for (Index i = c; i < n; ++i) A[i + c * lda] -= column[i] * factor;
        }
    }
    return 0;
}

/// Row-by-row mirror of the above: A = U^H U.
template <Scalar T> Index unblocked_potrf_upper(Index n, T* A, Index lda)
{
    for (Index j = 0; j < n; ++j) {
        T* column = A + j * lda;
        for (Index i = 0; i < j; ++i) {
            T sum = column[i];
            for (Index k = 0; k < i; ++k) sum -= conjugate(A[k + i * lda]) * column[k];
            column[i] = sum / std::real(A[i + i * lda]);
        }
        Real<T> pivot = std::real(column[j]);
        for (Index k = 0; k < j; ++k) pivot -= std::norm(column[k]);
        if (!(pivot > 0)) {
            column[j] = pivot;
            return j + 1;
        }
        column[j] = std::sqrt(pivot);
    }
    return 0;
}

/// A <- its Cholesky factor on the level 3 of a provider without LAPACK: halves, so that nearly all of the work is in
/// matrix products. LAPACK's info. n^3/3 flops. Gustavson 1997.
template <Scalar T> Index recursive_potrf(const Routines<T>& kernels, Uplo uplo, Index n, T* A, Index lda)
{
    constexpr Index leaf = 24;
    if (n <= leaf) return uplo == Uplo::lower ? unblocked_potrf_lower(n, A, lda) : unblocked_potrf_upper(n, A, lda);
    const Index n1 = n > 2 * leaf ? (n / 2 + 7) / 8 * 8 : n / 2, n2 = n - n1;
    T* const A22 = A + n1 + n1 * lda;
    if (const Index info = recursive_potrf(kernels, uplo, n1, A, lda)) return info;
    if (uplo == Uplo::lower) {
        T* const A21 = A + n1;
        kernels.trsm(Side::right, uplo, herm_op<T>, Diag::non_unit, n2, n1, T(1), A, lda, A21, lda);
        kernels.herk(uplo, Op::none, n2, n1, Real<T>(-1), A21, lda, Real<T>(1), A22, lda);
    } else {
        T* const A12 = A + n1 * lda;
        kernels.trsm(Side::left, uplo, herm_op<T>, Diag::non_unit, n1, n2, T(1), A, lda, A12, lda);
        kernels.herk(uplo, herm_op<T>, n2, n1, Real<T>(-1), A12, lda, Real<T>(1), A22, lda);
    }
    const Index info = recursive_potrf(kernels, uplo, n2, A22, lda);
    return info ? info + n1 : 0;
}

} // namespace trencadis
