#include "interfaces/lapack/checks.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/precision.hpp"
#include "interfaces/lapack/routines.hpp"
#include "matrix/operations.hpp"

namespace trencadis::face {
namespace {

template <Scalar T, bool solves>
int triangular(char side, char uplo, char transa, char diag, Index m, Index n, const T* alpha, const T* A, Index lda, T* B,
               Index ldb)
{
    Checks check;
    const Side where = check.side(1, side);
    const Uplo triangle = check.uplo(2, uplo);
    const Op op = check.op(3, transa);
    const Diag ones = check.diag(4, diag);
    const Index order = where == Side::left ? m : n;
    check.size(5, m);
    check.size(6, n);
    check.leading(9, lda, order);
    check.leading(11, ldb, m);
    if (check.bad()) return check.bad();
    if (m == 0 || n == 0) return 0;
    const auto direct = [&](const KernelProvider& kernels) {
        if constexpr (solves) kernels.trsm(where, triangle, op, ones, m, n, *alpha, A, lda, B, ldb);
        else kernels.trmm(where, triangle, op, ones, m, n, *alpha, A, lda, B, ldb);
    };
    const auto tasks = [&](Session& session, const RoutineOptions& options) {
        if constexpr (solves) trencadis::trsm(session, where, triangle, op, ones, m, n, *alpha, A, lda, B, ldb, options);
        else trencadis::trmm(session, where, triangle, op, ones, m, n, *alpha, A, lda, B, ldb, options);
    };
    const Flops flops = operations::triangular(double(order), double(where == Side::left ? n : m)).flops<T>();
    compute(Name<T>(solves ? "trsm" : "trmm"), {m, n}, flops, direct, tasks);
    return 0;
}

} // namespace

template <Scalar T>
int trmm(char side, char uplo, char transa, char diag, Index m, Index n, const T* alpha, const T* A, Index lda, T* B, Index ldb)
{
    return triangular<T, false>(side, uplo, transa, diag, m, n, alpha, A, lda, B, ldb);
}

template <Scalar T>
int trsm(char side, char uplo, char transa, char diag, Index m, Index n, const T* alpha, const T* A, Index lda, T* B, Index ldb)
{
    return triangular<T, true>(side, uplo, transa, diag, m, n, alpha, A, lda, B, ldb);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template int trmm(char, char, char, char, Index, Index, const T*, const T*, Index, T*, Index);                               \
    template int trsm(char, char, char, char, Index, Index, const T*, const T*, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::face
