#include "blas/level3/level3.hpp"
#include "blas/level3/product.hpp"

namespace trencadis::blas {

template <Scalar T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
          Index ldc)
{
    multiply<T>({m, n, k, alpha, general(A, lda, op_a), general(B, ldb, op_b), beta, C, 1, ldc});
}

#define TRC_INSTANTIATE(T) template void gemm(Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
