#include "interfaces/lapack/checks.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/precision.hpp"
#include "interfaces/lapack/routines.hpp"
#include "matrix/operations.hpp"

namespace trencadis::face {
namespace {

template <Scalar T, bool hermitian>
int side_product(char side, char uplo, Index m, Index n, const T* alpha, const T* A, Index lda, const T* B, Index ldb,
                 const T* beta, T* C, Index ldc)
{
    Checks check;
    const Side where = check.side(1, side);
    const Uplo triangle = check.uplo(2, uplo);
    const Index order = where == Side::left ? m : n;
    check.size(3, m);
    check.size(4, n);
    check.leading(7, lda, order);
    check.leading(9, ldb, m);
    check.leading(12, ldc, m);
    if (check.bad()) return check.bad();
    if (m == 0 || n == 0 || (*alpha == T(0) && *beta == T(1))) return 0;
    const auto direct = [&](const KernelProvider& kernels) {
        if constexpr (hermitian) kernels.hemm(where, triangle, m, n, *alpha, A, lda, B, ldb, *beta, C, ldc);
        else kernels.symm(where, triangle, m, n, *alpha, A, lda, B, ldb, *beta, C, ldc);
    };
    const auto tasks = [&](Session& session, const RoutineOptions& options) {
        if constexpr (hermitian) trencadis::hemm(session, where, triangle, m, n, *alpha, A, lda, B, ldb, *beta, C, ldc, options);
        else trencadis::symm(session, where, triangle, m, n, *alpha, A, lda, B, ldb, *beta, C, ldc, options);
    };
    compute(Name<T>(hermitian ? "hemm" : "symm"), {m, n}, operations::gemm(double(m), double(n), double(order)).flops<T>(),
            direct, tasks);
    return 0;
}

} // namespace

template <Scalar T>
int gemm(char transa, char transb, Index m, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb,
         const T* beta, T* C, Index ldc)
{
    Checks check;
    const Op op_a = check.op(1, transa), op_b = check.op(2, transb);
    check.size(3, m);
    check.size(4, n);
    check.size(5, k);
    check.leading(8, lda, op_a == Op::none ? m : k);
    check.leading(10, ldb, op_b == Op::none ? k : n);
    check.leading(13, ldc, m);
    if (check.bad()) return check.bad();
    if (m == 0 || n == 0 || ((k == 0 || *alpha == T(0)) && *beta == T(1))) return 0;
    const auto direct = [&](const KernelProvider& kernels) {
        kernels.gemm(op_a, op_b, m, n, k, *alpha, A, lda, B, ldb, *beta, C, ldc);
    };
    const auto tasks = [&](Session& session, const RoutineOptions& options) {
        trencadis::gemm(session, op_a, op_b, m, n, k, *alpha, A, lda, B, ldb, *beta, C, ldc, options);
    };
    compute(Name<T>("gemm"), {m, n, k}, operations::gemm(double(m), double(n), double(k)).flops<T>(), direct, tasks);
    return 0;
}

template <Scalar T>
int symm(char side, char uplo, Index m, Index n, const T* alpha, const T* A, Index lda, const T* B, Index ldb, const T* beta,
         T* C, Index ldc)
{
    return side_product<T, false>(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
int hemm(char side, char uplo, Index m, Index n, const T* alpha, const T* A, Index lda, const T* B, Index ldb, const T* beta,
         T* C, Index ldc)
{
    return side_product<T, true>(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template int gemm(char, char, Index, Index, Index, const T*, const T*, Index, const T*, Index, const T*, T*, Index);         \
    template int symm(char, char, Index, Index, const T*, const T*, Index, const T*, Index, const T*, T*, Index);                \
    template int hemm(char, char, Index, Index, const T*, const T*, Index, const T*, Index, const T*, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::face
