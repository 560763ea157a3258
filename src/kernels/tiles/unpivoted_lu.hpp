#pragma once
#include "blas/level3/reciprocal.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/diagonal.hpp"

#include <algorithm>
#include <vector>

/// LU without interchanges on the level 3 of any provider, and what goes with it. A column whose pivot is exactly zero is not
/// divided, as in LAPACK's getrf: so a column of zeros leaves zeros in L, and everything after it is factored.
namespace trencadis {

namespace unpivoted {

/// y <- y - x a.
template <Scalar T> void subtract_multiple(Index m, const T* x, T a, T* y)
{
    for (Index i = 0; i < m; ++i)
        if constexpr (is_complex<T>)
            y[i] -= T(x[i].real() * a.real() - x[i].imag() * a.imag(), x[i].real() * a.imag() + x[i].imag() * a.real());
        else y[i] -= x[i] * a;
}

/// x <- x / pivot, which is not zero.
template <Scalar T> void divide(Index m, T* x, T pivot)
{
    const blas::Reciprocal<T> by = blas::reciprocal(pivot);
    for (Index i = 0; i < m; ++i) x[i] = x[i] * by.value * by.power;
}

template <Scalar T> void by_columns(Index m, Index n, T* A, Index lda)
{
    for (Index j = 0; j < n; ++j) {
        T* const column = A + j * lda;
        const Index below = m - j - 1;
        if (column[j] != T(0)) divide(below, column + j + 1, column[j]);
        for (Index c = j + 1; c < n; ++c) subtract_multiple(below, column + j + 1, A[j + c * lda], A + j + 1 + c * lda);
    }
}

} // namespace unpivoted

/// B <- B U^-1, B m x n; where U's diagonal has a zero the column is subtracted from and not divided.
template <Scalar T> void divide_by_upper(const KernelProvider& kernels, Index m, Index n, const T* U, Index ldu, T* B, Index ldb)
{
    std::vector<T> ones; // U with ones for its zeros
    if (zero_on_diagonal(n, U, ldu)) {
        ones.resize(std::size_t(n * n));
        for (Index j = 0; j < n; ++j) {
            std::copy(U + j * ldu, U + j * ldu + j + 1, &ones[std::size_t(j * n)]);
            if (T& pivot = ones[std::size_t(j + j * n)]; pivot == T(0)) pivot = T(1);
        }
        U = ones.data(), ldu = n;
    }
    kernels.trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, m, n, T(1), U, ldu, B, ldb);
}

/// A = L U in place, A m x n, by halves of the columns.
template <Scalar T> void factor_unpivoted(const KernelProvider& kernels, Index m, Index n, T* A, Index lda)
{
    constexpr Index leaf = 8;
    if (n > m) {
        factor_unpivoted(kernels, m, m, A, lda);
        return kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, n - m, T(1), A, lda, A + m * lda, lda);
    }
    if (n <= leaf) return unpivoted::by_columns(m, n, A, lda);
    const Index n1 = (n / 2 + leaf - 1) / leaf * leaf, n2 = n - n1, m2 = m - n1;
    T *const A21 = A + n1, *const A12 = A + n1 * lda, *const A22 = A12 + n1;
    factor_unpivoted(kernels, n1, n1, A, lda);
    divide_by_upper(kernels, m2, n1, A, lda, A21, lda);
    kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, n1, n2, T(1), A, lda, A12, lda);
    kernels.gemm(Op::none, Op::none, m2, n2, n1, T(-1), A21, lda, A12, lda, T(1), A22, lda);
    factor_unpivoted(kernels, m2, n2, A22, lda);
}

} // namespace trencadis
