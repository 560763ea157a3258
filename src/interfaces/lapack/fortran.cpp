#include "base/types.hpp"
#include "interfaces/lapack/routines.hpp"
#include "interfaces/lapack/xerbla.hpp"

#include <complex>
#include <cstdint>

// The Fortran symbols. Everything comes by address; the hidden lengths of the letters, which callers may or may not pass after the
// last argument, are not looked at. Every routine exists with 32-bit integers, as dgemm_ and scipy_dgemm_, and with 64-bit ones,
// as dgemm_64_, dgemm_64 and scipy_dgemm_64_.

namespace trencadis::face {
namespace {

void blas_result(const char* routine, int bad)
{
    if (bad) bad_fortran_argument(routine, bad);
}

/// LAPACK's info: minus the number of a bad argument, else the routine's own.
template <class Int> void lapack_result(const char* routine, int bad, Index outcome, Int* info)
{
    *info = bad ? Int(-bad) : Int(outcome);
    if (bad) bad_fortran_argument(routine, bad);
}

} // namespace
} // namespace trencadis::face

using namespace trencadis;
using face::blas_result;
using face::lapack_result;

#define TRC_GEMM(SYMBOL, LABEL, T, R, INT)                                                                                       \
    void SYMBOL(const char* transa, const char* transb, const INT* m, const INT* n, const INT* k, const T* alpha, const T* a,    \
                const INT* lda, const T* b, const INT* ldb, const T* beta, T* c, const INT* ldc)                                 \
    {                                                                                                                            \
        blas_result(LABEL, face::gemm<T>(*transa, *transb, *m, *n, *k, alpha, a, *lda, b, *ldb, beta, c, *ldc));                 \
    }
#define TRC_SIDE(ROUTINE, SYMBOL, LABEL, T, INT)                                                                                 \
    void SYMBOL(const char* side, const char* uplo, const INT* m, const INT* n, const T* alpha, const T* a, const INT* lda,      \
                const T* b, const INT* ldb, const T* beta, T* c, const INT* ldc)                                                 \
    {                                                                                                                            \
        blas_result(LABEL, face::ROUTINE<T>(*side, *uplo, *m, *n, alpha, a, *lda, b, *ldb, beta, c, *ldc));                      \
    }
#define TRC_RANK_K(ROUTINE, SYMBOL, LABEL, T, FACTOR, INT)                                                                       \
    void SYMBOL(const char* uplo, const char* trans, const INT* n, const INT* k, const FACTOR* alpha, const T* a,                \
                const INT* lda, const FACTOR* beta, T* c, const INT* ldc)                                                        \
    {                                                                                                                            \
        blas_result(LABEL, face::ROUTINE<T>(*uplo, *trans, *n, *k, alpha, a, *lda, beta, c, *ldc));                              \
    }
#define TRC_RANK_2K(ROUTINE, SYMBOL, LABEL, T, BETA, INT)                                                                        \
    void SYMBOL(const char* uplo, const char* trans, const INT* n, const INT* k, const T* alpha, const T* a, const INT* lda,     \
                const T* b, const INT* ldb, const BETA* beta, T* c, const INT* ldc)                                              \
    {                                                                                                                            \
        blas_result(LABEL, face::ROUTINE<T>(*uplo, *trans, *n, *k, alpha, a, *lda, b, *ldb, beta, c, *ldc));                     \
    }
#define TRC_TRIANGULAR(ROUTINE, SYMBOL, LABEL, T, INT)                                                                           \
    void SYMBOL(const char* side, const char* uplo, const char* transa, const char* diag, const INT* m, const INT* n,            \
                const T* alpha, const T* a, const INT* lda, T* b, const INT* ldb)                                                \
    {                                                                                                                            \
        blas_result(LABEL, face::ROUTINE<T>(*side, *uplo, *transa, *diag, *m, *n, alpha, a, *lda, b, *ldb));                     \
    }
#define TRC_SYMM(SYMBOL, LABEL, T, R, INT) TRC_SIDE(symm, SYMBOL, LABEL, T, INT)
#define TRC_HEMM(SYMBOL, LABEL, T, R, INT) TRC_SIDE(hemm, SYMBOL, LABEL, T, INT)
#define TRC_SYRK(SYMBOL, LABEL, T, R, INT) TRC_RANK_K(syrk, SYMBOL, LABEL, T, T, INT)
#define TRC_HERK(SYMBOL, LABEL, T, R, INT) TRC_RANK_K(herk, SYMBOL, LABEL, T, R, INT)
#define TRC_SYR2K(SYMBOL, LABEL, T, R, INT) TRC_RANK_2K(syr2k, SYMBOL, LABEL, T, T, INT)
#define TRC_HER2K(SYMBOL, LABEL, T, R, INT) TRC_RANK_2K(her2k, SYMBOL, LABEL, T, R, INT)
#define TRC_TRMM(SYMBOL, LABEL, T, R, INT) TRC_TRIANGULAR(trmm, SYMBOL, LABEL, T, INT)
#define TRC_TRSM(SYMBOL, LABEL, T, R, INT) TRC_TRIANGULAR(trsm, SYMBOL, LABEL, T, INT)
#define TRC_POTRF(SYMBOL, LABEL, T, R, INT)                                                                                      \
    void SYMBOL(const char* uplo, const INT* n, T* a, const INT* lda, INT* info)                                                 \
    {                                                                                                                            \
        Index outcome = 0;                                                                                                       \
        const int bad = face::potrf<T>(*uplo, *n, a, *lda, outcome);                                                             \
        lapack_result(LABEL, bad, outcome, info);                                                                                \
    }
#define TRC_POTRS(SYMBOL, LABEL, T, R, INT)                                                                                      \
    void SYMBOL(const char* uplo, const INT* n, const INT* nrhs, const T* a, const INT* lda, T* b, const INT* ldb, INT* info)    \
    {                                                                                                                            \
        lapack_result(LABEL, face::potrs<T>(*uplo, *n, *nrhs, a, *lda, b, *ldb), 0, info);                                       \
    }
#define TRC_POSV(SYMBOL, LABEL, T, R, INT)                                                                                       \
    void SYMBOL(const char* uplo, const INT* n, const INT* nrhs, T* a, const INT* lda, T* b, const INT* ldb, INT* info)          \
    {                                                                                                                            \
        Index outcome = 0;                                                                                                       \
        const int bad = face::posv<T>(*uplo, *n, *nrhs, a, *lda, b, *ldb, outcome);                                              \
        lapack_result(LABEL, bad, outcome, info);                                                                                \
    }

// A routine under all its names.
#define TRC_ALIAS(NAME, OF) decltype(OF) NAME __attribute__((alias(#OF)));
#define TRC_FAMILIES(DEFINE, NAME, T, R)                                                                                         \
    DEFINE(NAME##_, #NAME, T, R, std::int32_t)                                                                                   \
    TRC_ALIAS(scipy_##NAME##_, NAME##_)                                                                                          \
    DEFINE(NAME##_64_, #NAME, T, R, std::int64_t)                                                                                \
    TRC_ALIAS(NAME##_64, NAME##_64_)                                                                                             \
    TRC_ALIAS(scipy_##NAME##_64_, NAME##_64_)
#define TRC_COMPLEX(DEFINE, ROUTINE)                                                                                             \
    TRC_FAMILIES(DEFINE, c##ROUTINE, std::complex<float>, float)                                                                 \
    TRC_FAMILIES(DEFINE, z##ROUTINE, std::complex<double>, double)
#define TRC_ALL(DEFINE, ROUTINE)                                                                                                 \
    TRC_FAMILIES(DEFINE, s##ROUTINE, float, float)                                                                               \
    TRC_FAMILIES(DEFINE, d##ROUTINE, double, double)                                                                             \
    TRC_COMPLEX(DEFINE, ROUTINE)

extern "C" {

TRC_ALL(TRC_GEMM, gemm)
TRC_ALL(TRC_SYMM, symm)
TRC_COMPLEX(TRC_HEMM, hemm)
TRC_ALL(TRC_SYRK, syrk)
TRC_COMPLEX(TRC_HERK, herk)
TRC_ALL(TRC_SYR2K, syr2k)
TRC_COMPLEX(TRC_HER2K, her2k)
TRC_ALL(TRC_TRMM, trmm)
TRC_ALL(TRC_TRSM, trsm)
TRC_ALL(TRC_POTRF, potrf)
TRC_ALL(TRC_POTRS, potrs)
TRC_ALL(TRC_POSV, posv)

} // extern "C"
