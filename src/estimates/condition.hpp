#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

/// Reciprocal condition numbers as LAPACK estimates them, on the calling thread: some four to eleven triangular systems with one
/// right side, each one read of the factors. `work`: work_of<T>(n) numbers, or null and they are taken from the heap. Arguments
/// have been checked. They return LAPACK's info.
namespace trencadis::estimates {

/// Of matrices of order 8 at most the product with the inverse at which its norm was found is left behind the first n numbers of
/// `work`, where LAPACK's xLATDF reads it.
template <Scalar T> Index gecon(Norm norm, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond, T* work = nullptr);
template <Scalar T> Index pocon(Uplo uplo, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond, T* work = nullptr);
template <Scalar T>
Index trcon(Norm norm, Uplo uplo, Diag diag, Index n, const T* A, Index lda, Real<T>* rcond, T* work = nullptr);

} // namespace trencadis::estimates
