#include "interfaces/lapack/mixed.hpp"
#include "algorithms/signatures.hpp"
#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/xerbla.hpp"

#include <algorithm>
#include <cstdint>

// dsgesv, zcgesv, dsposv and zcposv under their Fortran names. The caller's workspace is not used: ours is aligned and laid out
// otherwise. Where there are no workers, or the problem is too small for them, the factorization is in double precision at once,
// with -1 for the steps.

namespace trencadis::face {
namespace {

template <class T> void copy_columns(Index n, Index nrhs, const T* B, Index ldb, T* X, Index ldx)
{
    for (Index j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, n, X + j * ldx);
}

/// A Fortran call's answer.
template <class Int> void tell(const char* name, int bad, int steps, Index outcome, Int* iterations, Int* info)
{
    *iterations = Int(steps), *info = bad ? Int(-bad) : Int(outcome);
    if (bad) bad_fortran_argument(name, bad);
}

} // namespace

template <Scalar T>
int gesv_in_mixed_precision(const char* name, Index n, Index nrhs, T* A, Index lda, argument::Integers<Index> ipiv, const T* B,
                            Index ldb, T* X, Index ldx, int& steps, Index& info)
{
    steps = 0, info = 0;
    if (const int bad = argument::first_bad(TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs), TRC_CHECK_INOUT(A, lda, n, n),
                                            argument::Factor{}, TRC_CHECK_IN(B, ldb, n, nrhs), TRC_CHECK_INOUT(X, ldx, n, nrhs)))
        return bad;
    if (n == 0) return 0;
    const Extents size{.n = double(n), .nrhs = double(nrhs)};
    const bool done = compute(
        name, false, std::max({n, nrhs, lda, ldb, ldx}), [&] { return size; },
        [&] { return operations::gesv(double(n), double(nrhs)).flops<T>(); },
        [&](const KernelProvider& kernels) {
            steps = -1, info = alone::getrf(kernels, n, n, A, lda, ipiv.of(n));
            if (info) return;
            copy_columns(n, nrhs, B, ldb, X, ldx);
            alone::getrs<T>(kernels, Op::none, n, nrhs, A, lda, ipiv.of(n), X, ldx);
        },
        [&](Session& session, const RoutineOptions& options) {
            info = gesv_mixed(session, n, nrhs, A, lda, ipiv.of(n), B, ldb, X, ldx, &steps, options);
        });
    if (!done) {
        make_written_nan<T>(TRC_CHECK_INOUT(A, lda, n, n), TRC_CHECK_INOUT(X, ldx, n, nrhs));
        exchange_nothing(n, ipiv.of(n));
        info = half_done;
    }
    return 0;
}

template <Scalar T>
int posv_in_mixed_precision(const char* name, Letter<Uplo> uplo, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb,
                            T* X, Index ldx, int& steps, Index& info)
{
    steps = 0, info = 0;
    if (const int bad =
            argument::first_bad(TRC_CHECK_FLAG(Uplo, uplo, "uplo"), TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs),
                                TRC_CHECK_INOUT(A, lda, n, n), TRC_CHECK_IN(B, ldb, n, nrhs), TRC_CHECK_INOUT(X, ldx, n, nrhs)))
        return bad;
    if (n == 0) return 0;
    const Extents size{.n = double(n), .nrhs = double(nrhs)};
    const bool done = compute(
        name, false, std::max({n, nrhs, lda, ldb, ldx}), [&] { return size; },
        [&] { return operations::posv(double(n), double(nrhs)).flops<T>(); },
        [&](const KernelProvider& kernels) {
            steps = -1, info = alone::potrf(kernels, Uplo(uplo), n, A, lda);
            if (info) return;
            copy_columns(n, nrhs, B, ldb, X, ldx);
            alone::potrs(kernels, Uplo(uplo), n, nrhs, A, lda, X, ldx);
        },
        [&](Session& session, const RoutineOptions& options) {
            info = posv_mixed(session, uplo, n, nrhs, A, lda, B, ldb, X, ldx, &steps, options);
        });
    if (!done) {
        make_written_nan<T>(TRC_CHECK_INOUT(A, lda, n, n), TRC_CHECK_INOUT(X, ldx, n, nrhs));
        info = half_done;
    }
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template int gesv_in_mixed_precision(const char*, Index, Index, T*, Index, argument::Integers<Index>, const T*, Index, T*,   \
                                         Index, int&, Index&);                                                                   \
    template int posv_in_mixed_precision(const char*, Letter<Uplo>, Index, Index, T*, Index, const T*, Index, T*, Index, int&,   \
                                         Index&);
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::face

using namespace trencadis;

#define TRC_GESV(SYMBOL, LABEL, T, S, INT)                                                                                       \
    void SYMBOL(const INT* n, const INT* nrhs, T* a, const INT* lda, INT* ipiv, const T* b, const INT* ldb, T* x,                \
                const INT* ldx, T*, S*, INT* iter, INT* info)                                                                    \
    {                                                                                                                            \
        int steps;                                                                                                               \
        Index outcome;                                                                                                           \
        const int bad = face::gesv_in_mixed_precision<T>(LABEL, *n, *nrhs, a, *lda, ipiv, b, *ldb, x, *ldx, steps, outcome);     \
        face::tell(LABEL, bad, steps, outcome, iter, info);                                                                      \
    }
#define TRC_ZCGESV(SYMBOL, LABEL, T, S, INT)                                                                                     \
    void SYMBOL(const INT* n, const INT* nrhs, T* a, const INT* lda, INT* ipiv, const T* b, const INT* ldb, T* x,                \
                const INT* ldx, T*, S*, double*, INT* iter, INT* info)                                                           \
    {                                                                                                                            \
        int steps;                                                                                                               \
        Index outcome;                                                                                                           \
        const int bad = face::gesv_in_mixed_precision<T>(LABEL, *n, *nrhs, a, *lda, ipiv, b, *ldb, x, *ldx, steps, outcome);     \
        face::tell(LABEL, bad, steps, outcome, iter, info);                                                                      \
    }
#define TRC_POSV(SYMBOL, LABEL, T, S, INT)                                                                                       \
    void SYMBOL(const char* uplo, const INT* n, const INT* nrhs, T* a, const INT* lda, const T* b, const INT* ldb, T* x,         \
                const INT* ldx, T*, S*, INT* iter, INT* info)                                                                    \
    {                                                                                                                            \
        int steps;                                                                                                               \
        Index outcome;                                                                                                           \
        const int bad = face::posv_in_mixed_precision<T>(LABEL, *uplo, *n, *nrhs, a, *lda, b, *ldb, x, *ldx, steps, outcome);    \
        face::tell(LABEL, bad, steps, outcome, iter, info);                                                                      \
    }
#define TRC_ZCPOSV(SYMBOL, LABEL, T, S, INT)                                                                                     \
    void SYMBOL(const char* uplo, const INT* n, const INT* nrhs, T* a, const INT* lda, const T* b, const INT* ldb, T* x,         \
                const INT* ldx, T*, S*, double*, INT* iter, INT* info)                                                           \
    {                                                                                                                            \
        int steps;                                                                                                               \
        Index outcome;                                                                                                           \
        const int bad = face::posv_in_mixed_precision<T>(LABEL, *uplo, *n, *nrhs, a, *lda, b, *ldb, x, *ldx, steps, outcome);    \
        face::tell(LABEL, bad, steps, outcome, iter, info);                                                                      \
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
