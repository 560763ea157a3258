#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/helpers.hpp"
#include "matrix/ops.hpp"

/// Level 3 BLAS on one core, over our own micro-kernels. Column-major matrices; arguments have been checked, sizes may be zero.
/// What an operation does not reference is not read: the other triangle, a unit diagonal, A and B where alpha = 0 or k = 0; beta
/// = 0 overwrites C. Infinity and NaN reach every result that a product or quotient with them enters, and no other; the reference
/// BLAS leaves out some products with zeros of B or C, which then hide an infinity or NaN in A: here they do not.
///
/// Every function may be called from several threads at once on different results. Packing buffers belong to the thread and are
/// kept: mc kc + kc nc numbers, a solve also 1024 kc + kc^2/2, a factorization 512^2. Throws Error{out_of_memory}.
namespace trencadis::blas {

/// C <- alpha op(A) op(B) + beta C, C m x n. 2 m n k flops (8 complex).
template <Scalar T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
          Index ldc);

/// C <- alpha A B + beta C (left) or alpha B A + beta C (right), A symmetric with the triangle `uplo` stored, C m x n.
template <Scalar T>
void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc);
/// The same for a Hermitian A.
template <Scalar T>
void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc);

/// One triangle of C <- alpha op(A) op(A)^T + beta C, C n x n; op is none or trans.
template <Scalar T> void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc);
/// One triangle of C <- alpha op(A) op(A)^H + beta C; op is none or conj_trans (real: or trans). The diagonal comes out real.
template <Scalar T>
void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc);

/// One triangle of C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C.
template <Scalar T>
void syr2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc);
/// One triangle of C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C; the diagonal comes out real.
template <Scalar T>
void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta, T* C,
           Index ldc);

/// B <- alpha op(A) B (left) or alpha B op(A) (right), A triangular, B m x n. Where
/// panels of B have infinities or NaN their bits are others.
template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb);
/// B <- alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular; no test for singularity.
template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb);

/// A <- its Cholesky factor in one triangle; the other is not referenced. LAPACK's info: 0, or the order of the leading minor
/// that is not positive definite (NaN counts as not). n^3/3 flops. The bits do not depend on whether anybody helps with updates.
template <Scalar T> Index potrf(Uplo uplo, Index n, T* A, Index lda, const Helpers& helpers = {});
/// The same in steps of so many columns. Of real numbers the bits are those of square tiles as wide, where none is narrower
/// than eight.
template <Scalar T> Index potrf_in_steps(Uplo uplo, Index n, Index width, T* A, Index lda);

} // namespace trencadis::blas
