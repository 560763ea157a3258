#include "blas/level3/diagonal.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/product.hpp"
#include "matrix/conjugate.hpp"

namespace trencadis::blas {

// Two products over the same triangle, one after the other.

template <Scalar T>
void syr2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc)
{
    const Operand<T> a = general(A, lda, op), b = general(B, ldb, op);
    multiply<T>({n, n, k, alpha, a, b.transposed(), beta, C, 1, ldc, part_of(uplo)});
    multiply<T>({n, n, k, alpha, b, a.transposed(), T(1), C, 1, ldc, part_of(uplo)});
}

template <Scalar T>
void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta, T* C,
           Index ldc)
{
    if ((alpha == T(0) || k == 0) && beta == 1) return; // as in the reference BLAS, which then leaves the diagonal as it is
    const Operand<T> a = general(A, lda, op), b = general(B, ldb, op);
    // With op = conj_trans the formula has op(B)^H = B: alpha stays with the first product either way.
    make_diagonal_real(n, C, ldc);
    multiply<T>({n, n, k, alpha, a, b.transposed().conjugate(), T(beta), C, 1, ldc, part_of(uplo)});
    multiply<T>({n, n, k, conjugate(alpha), b, a.transposed().conjugate(), T(1), C, 1, ldc, part_of(uplo)});
    make_diagonal_real(n, C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syr2k(Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);                              \
    template void her2k(Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, Real<T>, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
