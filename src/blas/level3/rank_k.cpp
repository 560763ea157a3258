#include "blas/level3/diagonal.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/product.hpp"

namespace trencadis::blas {

template <Scalar T> void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc)
{
    const Operand<T> left = general(A, lda, op);
    multiply<T>({n, n, k, alpha, left, left.transposed(), beta, C, 1, ldc, part_of(uplo)});
}

template <Scalar T>
void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc)
{
    if ((alpha == 0 || k == 0) && beta == 1) return; // as in the reference BLAS, which then leaves the diagonal as it is
    const Operand<T> left = general(A, lda, op);
    make_diagonal_real(n, C, ldc);
    multiply<T>({n, n, k, T(alpha), left, left.transposed().conjugate(), T(beta), C, 1, ldc, part_of(uplo)});
    make_diagonal_real(n, C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syrk(Uplo, Op, Index, Index, T, const T*, Index, T, T*, Index);                                                \
    template void herk(Uplo, Op, Index, Index, Real<T>, const T*, Index, Real<T>, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
