#include "interfaces/lapack/checks.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/precision.hpp"
#include "interfaces/lapack/routines.hpp"
#include "matrix/operations.hpp"

namespace trencadis::face {
namespace {

template <class Alpha, class Beta> bool leaves_alone(Index n, Index k, Alpha alpha, Beta beta)
{
    return n == 0 || ((k == 0 || alpha == Alpha(0)) && beta == Beta(1));
}

template <Scalar T, bool hermitian, class Factor>
int rank_k(char uplo, char trans, Index n, Index k, const Factor* alpha, const T* A, Index lda, const Factor* beta, T* C,
           Index ldc)
{
    Checks check;
    const Uplo triangle = check.uplo(1, uplo);
    const Op op = check.rank_op<T>(2, trans, hermitian ? Op::conj_trans : Op::trans);
    check.size(3, n);
    check.size(4, k);
    check.leading(7, lda, op == Op::none ? n : k);
    check.leading(10, ldc, n);
    if (check.bad()) return check.bad();
    if (leaves_alone(n, k, *alpha, *beta)) return 0;
    const auto direct = [&](const KernelProvider& kernels) {
        if constexpr (hermitian) kernels.herk(triangle, op, n, k, *alpha, A, lda, *beta, C, ldc);
        else kernels.syrk(triangle, op, n, k, *alpha, A, lda, *beta, C, ldc);
    };
    const auto tasks = [&](Session& session, const RoutineOptions& options) {
        if constexpr (hermitian) trencadis::herk(session, triangle, op, n, k, *alpha, A, lda, *beta, C, ldc, options);
        else trencadis::syrk(session, triangle, op, n, k, *alpha, A, lda, *beta, C, ldc, options);
    };
    compute(Name<T>(hermitian ? "herk" : "syrk"), {n, k}, operations::rank_k(double(n), double(k)).flops<T>(), direct, tasks);
    return 0;
}

template <Scalar T, bool hermitian, class Beta>
int rank_2k(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb,
            const Beta* beta, T* C, Index ldc)
{
    Checks check;
    const Uplo triangle = check.uplo(1, uplo);
    const Op op = check.rank_op<T>(2, trans, hermitian ? Op::conj_trans : Op::trans);
    check.size(3, n);
    check.size(4, k);
    check.leading(7, lda, op == Op::none ? n : k);
    check.leading(9, ldb, op == Op::none ? n : k);
    check.leading(12, ldc, n);
    if (check.bad()) return check.bad();
    if (leaves_alone(n, k, *alpha, *beta)) return 0;
    const auto direct = [&](const KernelProvider& kernels) {
        if constexpr (hermitian) kernels.her2k(triangle, op, n, k, *alpha, A, lda, B, ldb, *beta, C, ldc);
        else kernels.syr2k(triangle, op, n, k, *alpha, A, lda, B, ldb, *beta, C, ldc);
    };
    const auto tasks = [&](Session& session, const RoutineOptions& options) {
        if constexpr (hermitian) trencadis::her2k(session, triangle, op, n, k, *alpha, A, lda, B, ldb, *beta, C, ldc, options);
        else trencadis::syr2k(session, triangle, op, n, k, *alpha, A, lda, B, ldb, *beta, C, ldc, options);
    };
    compute(Name<T>(hermitian ? "her2k" : "syr2k"), {n, k}, operations::rank_2k(double(n), double(k)).flops<T>(), direct, tasks);
    return 0;
}

} // namespace

template <Scalar T>
int syrk(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* beta, T* C, Index ldc)
{
    return rank_k<T, false>(uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

template <Scalar T>
int herk(char uplo, char trans, Index n, Index k, const Real<T>* alpha, const T* A, Index lda, const Real<T>* beta, T* C,
         Index ldc)
{
    return rank_k<T, true>(uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

template <Scalar T>
int syr2k(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb, const T* beta,
          T* C, Index ldc)
{
    return rank_2k<T, false>(uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
int her2k(char uplo, char trans, Index n, Index k, const T* alpha, const T* A, Index lda, const T* B, Index ldb,
          const Real<T>* beta, T* C, Index ldc)
{
    return rank_2k<T, true>(uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define TRC_SYMMETRIC(T)                                                                                                         \
    template int syrk(char, char, Index, Index, const T*, const T*, Index, const T*, T*, Index);                                 \
    template int syr2k(char, char, Index, Index, const T*, const T*, Index, const T*, Index, const T*, T*, Index);
#define TRC_HERMITIAN(T)                                                                                                         \
    template int herk(char, char, Index, Index, const Real<T>*, const T*, Index, const Real<T>*, T*, Index);                     \
    template int her2k(char, char, Index, Index, const T*, const T*, Index, const T*, Index, const Real<T>*, T*, Index);
TRC_SYMMETRIC(float)
TRC_SYMMETRIC(double)
TRC_SYMMETRIC(std::complex<float>)
TRC_SYMMETRIC(std::complex<double>)
TRC_HERMITIAN(std::complex<float>)
TRC_HERMITIAN(std::complex<double>)
#undef TRC_SYMMETRIC
#undef TRC_HERMITIAN

} // namespace trencadis::face
