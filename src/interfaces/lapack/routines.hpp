#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

/// The routines behind the symbols, column-major, with BLAS's letters for flags. Each returns the number of the first bad argument,
/// counted as the reference does, and has then done nothing; or 0.
namespace trencadis::face {

template <Scalar T>
int gemm(char transa, char transb, Index m, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb,
         const T* beta, T* C, Index ldc);
template <Scalar T>
int symm(char side, char uplo, Index m, Index n, const T* alpha, const T* A, Index lda, const T* B, Index ldb, const T* beta,
         T* C, Index ldc);
template <Scalar T>
int hemm(char side, char uplo, Index m, Index n, const T* alpha, const T* A, Index lda, const T* B, Index ldb, const T* beta,
         T* C, Index ldc);
template <Scalar T>
int syrk(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* beta, T* C, Index ldc);
template <Scalar T>
int herk(char uplo, char trans, Index n, Index k, const Real<T>* alpha, const T* A, Index lda, const Real<T>* beta, T* C,
         Index ldc);
template <Scalar T>
int syr2k(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb, const T* beta,
          T* C, Index ldc);
template <Scalar T>
int her2k(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb,
          const Real<T>* beta, T* C, Index ldc);
template <Scalar T>
int trmm(char side, char uplo, char transa, char diag, Index m, Index n, const T* alpha, const T* A, Index lda, T* B, Index ldb);
template <Scalar T>
int trsm(char side, char uplo, char transa, char diag, Index m, Index n, const T* alpha, const T* A, Index lda, T* B, Index ldb);

// LAPACK's; `info` receives the order of the leading minor that is not positive definite, or 0.
template <Scalar T> int potrf(char uplo, Index n, T* A, Index lda, Index& info);
template <Scalar T> int potrs(char uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T> int posv(char uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, Index& info);

} // namespace trencadis::face
