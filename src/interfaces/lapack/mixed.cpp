#include "algorithms/signatures.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/xerbla.hpp"
#include "session/alone.hpp"
#include "session/linear_algebra.hpp"

#include <algorithm>
#include <cstdint>

// dsgesv, zcgesv, dsposv and zcposv under their Fortran names. The caller's workspace is not used: ours is aligned and laid out otherwise. Where
// there are no workers, or the problem is too small for them, the factorization is in double precision at once, with -1 for the steps.

namespace trencadis::face {
namespace {

template <class T> void copy_columns(Index n, Index nrhs, const T* B, Index ldb, T* X, Index ldx)
{
    for (Index j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, n, X + j * ldx);
}

/// Who calls, and what it is told.
template <class Int> struct Answer {
    const char* name;
    Int* iterations;
    Int* info;

    bool refused(int bad) const
    {
        *iterations = 0, *info = Int(-bad);
        if (bad) bad_fortran_argument(name, bad);
        return bad != 0;
    }
    void tell(int steps, Index outcome) const { *iterations = Int(steps), *info = Int(outcome); }
};

template <Scalar T, class Int>
void gesv(const Answer<Int>& answer, Index n, Index nrhs, T* A, Index lda, argument::Integers<Index> ipiv, const T* B, Index ldb,
          T* X, Index ldx)
{
    if (answer.refused(argument::first_bad(TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs), TRC_CHECK_INOUT(A, lda, n, n),
                                           argument::Factor{}, TRC_CHECK_IN(B, ldb, n, nrhs), TRC_CHECK_INOUT(X, ldx, n, nrhs))))
        return;
    if (n == 0) return;
    const Extents size{.n = double(n), .nrhs = double(nrhs)};
    compute(
        answer.name, false, std::max({n, nrhs, lda, ldb, ldx}), [&] { return size; },
        [&] { return operations::gesv(double(n), double(nrhs)).flops<T>(); },
        [&](const KernelProvider& kernels) {
            const Index info = alone::getrf(kernels, n, n, A, lda, ipiv.of(n));
            answer.tell(-1, info);
            if (info) return;
            copy_columns(n, nrhs, B, ldb, X, ldx);
            alone::getrs<T>(kernels, Op::none, n, nrhs, A, lda, ipiv.of(n), X, ldx);
        },
        [&](Session& session, const RoutineOptions& options) {
            int steps = 0;
            const Index info = gesv_mixed(session, n, nrhs, A, lda, ipiv.of(n), B, ldb, X, ldx, &steps, options);
            answer.tell(steps, info);
        });
}

template <Scalar T, class Int>
void posv(const Answer<Int>& answer, Letter<Uplo> uplo, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb, T* X,
          Index ldx)
{
    if (answer.refused(argument::first_bad(TRC_CHECK_FLAG(Uplo, uplo, "uplo"), TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs),
                                           TRC_CHECK_INOUT(A, lda, n, n), TRC_CHECK_IN(B, ldb, n, nrhs),
                                           TRC_CHECK_INOUT(X, ldx, n, nrhs))))
        return;
    if (n == 0) return;
    const Extents size{.n = double(n), .nrhs = double(nrhs)};
    compute(
        answer.name, false, std::max({n, nrhs, lda, ldb, ldx}), [&] { return size; },
        [&] { return operations::posv(double(n), double(nrhs)).flops<T>(); },
        [&](const KernelProvider& kernels) {
            const Index info = alone::potrf(kernels, Uplo(uplo), n, A, lda);
            answer.tell(-1, info);
            if (info) return;
            copy_columns(n, nrhs, B, ldb, X, ldx);
            alone::potrs(kernels, Uplo(uplo), n, nrhs, A, lda, X, ldx);
        },
        [&](Session& session, const RoutineOptions& options) {
            int steps = 0;
            const Index info = posv_mixed(session, uplo, n, nrhs, A, lda, B, ldb, X, ldx, &steps, options);
            answer.tell(steps, info);
        });
}

} // namespace
} // namespace trencadis::face

using namespace trencadis;

#define TRC_GESV(SYMBOL, LABEL, T, S, INT)                                                                                       \
    void SYMBOL(const INT* n, const INT* nrhs, T* a, const INT* lda, INT* ipiv, const T* b, const INT* ldb, T* x,                \
                const INT* ldx, T*, S*, INT* iter, INT* info)                                                                    \
    {                                                                                                                            \
        face::gesv<T, INT>({LABEL, iter, info}, *n, *nrhs, a, *lda, ipiv, b, *ldb, x, *ldx);                                     \
    }
#define TRC_ZCGESV(SYMBOL, LABEL, T, S, INT)                                                                                     \
    void SYMBOL(const INT* n, const INT* nrhs, T* a, const INT* lda, INT* ipiv, const T* b, const INT* ldb, T* x,                \
                const INT* ldx, T*, S*, double*, INT* iter, INT* info)                                                           \
    {                                                                                                                            \
        face::gesv<T, INT>({LABEL, iter, info}, *n, *nrhs, a, *lda, ipiv, b, *ldb, x, *ldx);                                     \
    }
#define TRC_POSV(SYMBOL, LABEL, T, S, INT)                                                                                       \
    void SYMBOL(const char* uplo, const INT* n, const INT* nrhs, T* a, const INT* lda, const T* b, const INT* ldb, T* x,         \
                const INT* ldx, T*, S*, INT* iter, INT* info)                                                                    \
    {                                                                                                                            \
        face::posv<T, INT>({LABEL, iter, info}, *uplo, *n, *nrhs, a, *lda, b, *ldb, x, *ldx);                                    \
    }
#define TRC_ZCPOSV(SYMBOL, LABEL, T, S, INT)                                                                                     \
    void SYMBOL(const char* uplo, const INT* n, const INT* nrhs, T* a, const INT* lda, const T* b, const INT* ldb, T* x,         \
                const INT* ldx, T*, S*, double*, INT* iter, INT* info)                                                           \
    {                                                                                                                            \
        face::posv<T, INT>({LABEL, iter, info}, *uplo, *n, *nrhs, a, *lda, b, *ldb, x, *ldx);                                    \
    }

#define TRC_ALIAS(NAME, OF) decltype(OF) NAME __attribute__((alias(#OF)));
#define TRC_FAMILIES(DEFINE, NAME, T, S)                                                                                         \
    DEFINE(NAME##_, #NAME, T, S, std::int32_t)                                                                                   \
    TRC_ALIAS(scipy_##NAME##_, NAME##_)                                                                                          \
    DEFINE(NAME##_64_, #NAME, T, S, std::int64_t)                                                                                \
    TRC_ALIAS(NAME##_64, NAME##_64_)                                                                                             \
    TRC_ALIAS(scipy_##NAME##_64_, NAME##_64_)

extern "C" {

TRC_FAMILIES(TRC_GESV, dsgesv, double, float)
TRC_FAMILIES(TRC_POSV, dsposv, double, float)
TRC_FAMILIES(TRC_ZCGESV, zcgesv, std::complex<double>, std::complex<float>)
TRC_FAMILIES(TRC_ZCPOSV, zcposv, std::complex<double>, std::complex<float>)

} // extern "C"
