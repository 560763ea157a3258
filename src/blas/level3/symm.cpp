#include "blas/level3/level3.hpp"
#include "blas/level3/product.hpp"

namespace trencadis::blas {
namespace {

/// Packing reads each element of A from the triangle that is stored, so that the product is an ordinary one.
template <Scalar T>
void multiply_mirrored(Structure structure, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
                       Index ldb, T beta, T* C, Index ldc)
{
    Operand<T> whole = general(A, lda);
    whole.structure = structure;
    whole.uplo = uplo;
    if (side == Side::left) multiply<T>({m, n, m, alpha, whole, general(B, ldb), beta, C, 1, ldc});
    else multiply<T>({m, n, n, alpha, general(B, ldb), whole, beta, C, 1, ldc});
}

} // namespace

template <Scalar T>
void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc)
{
    multiply_mirrored(Structure::symmetric, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc)
{
    multiply_mirrored(is_complex<T> ? Structure::hermitian : Structure::symmetric, side, uplo, m, n, alpha, A, lda, B, ldb, beta,
                      C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void symm(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);                             \
    template void hemm(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
