#include "interfaces/lapack/checks.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/precision.hpp"
#include "interfaces/lapack/routines.hpp"
#include "matrix/operations.hpp"

namespace trencadis::face {

template <Scalar T> int potrf(char uplo, Index n, T* A, Index lda, Index& info)
{
    Checks check;
    const Uplo triangle = check.uplo(1, uplo);
    check.size(2, n);
    check.leading(4, lda, n);
    if (check.bad()) return check.bad();
    info = 0;
    if (n == 0) return 0;
    compute(
        Name<T>("potrf"), {n}, operations::potrf(double(n)).flops<T>(),
        [&](const KernelProvider& kernels) { info = kernels.potrf(triangle, n, A, lda); },
        [&](Session& session, const RoutineOptions& options) { info = trencadis::potrf(session, triangle, n, A, lda, options); });
    return 0;
}

template <Scalar T> int potrs(char uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb)
{
    Checks check;
    const Uplo triangle = check.uplo(1, uplo);
    check.size(2, n);
    check.size(3, nrhs);
    check.leading(5, lda, n);
    check.leading(7, ldb, n);
    if (check.bad()) return check.bad();
    if (n == 0 || nrhs == 0) return 0;
    compute(
        Name<T>("potrs"), {n, nrhs}, operations::potrs(double(n), double(nrhs)).flops<T>(),
        [&](const KernelProvider& kernels) { kernels.potrs(triangle, n, nrhs, A, lda, B, ldb); },
        [&](Session& session, const RoutineOptions& options) {
            trencadis::potrs(session, triangle, n, nrhs, A, lda, B, ldb, options);
        });
    return 0;
}

template <Scalar T> int posv(char uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, Index& info)
{
    Checks check;
    const Uplo triangle = check.uplo(1, uplo);
    check.size(2, n);
    check.size(3, nrhs);
    check.leading(5, lda, n);
    check.leading(7, ldb, n);
    if (check.bad()) return check.bad();
    info = 0;
    if (n == 0) return 0;
    compute(
        Name<T>("posv"), {n, nrhs}, operations::posv(double(n), double(nrhs)).flops<T>(),
        [&](const KernelProvider& kernels) {
            info = kernels.potrf(triangle, n, A, lda);
            if (info == 0 && nrhs > 0) kernels.potrs(triangle, n, nrhs, A, lda, B, ldb);
        },
        [&](Session& session, const RoutineOptions& options) {
            info = trencadis::posv(session, triangle, n, nrhs, A, lda, B, ldb, options);
        });
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template int potrf(char, Index, T*, Index, Index&);                                                                          \
    template int potrs(char, Index, Index, const T*, Index, T*, Index);                                                          \
    template int posv(char, Index, Index, T*, Index, T*, Index, Index&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::face
