#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

/// Reciprocal condition numbers as LAPACK estimates them, on the calling thread: some four to eleven triangular systems with one right side, each
/// one read of the factors, 3 n numbers of memory. Arguments have been checked. They return LAPACK's info.
namespace trencadis::estimates {

/// `attained`: the product with the inverse at which its norm was found, n numbers, where it is not null.
template <Scalar T> Index gecon(Norm norm, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond, T* attained = nullptr);
template <Scalar T> Index pocon(Uplo uplo, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond);
template <Scalar T> Index trcon(Norm norm, Uplo uplo, Diag diag, Index n, const T* A, Index lda, Real<T>* rcond);

} // namespace trencadis::estimates
