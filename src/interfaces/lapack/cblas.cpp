#include "base/types.hpp"
#include "interfaces/lapack/cblas_flags.hpp"
#include "interfaces/lapack/faces.hpp"
#include "matrix/conjugate.hpp"

#include <complex>
#include <cstdint>

// The CBLAS symbols, with 32-bit integers as cblas_dgemm and scipy_cblas_dgemm, and with 64-bit ones as cblas_dgemm64_,
// cblas_dgemm_64 and scipy_cblas_dgemm64_.

namespace trencadis::face {
namespace {

template <Scalar T>
void cblas_gemm(const char* name, int layout, int transa, int transb, Index m, Index n, Index k, const T* alpha, const T* A,
                Index lda, const T* B, Index ldb, const T* beta, T* C, Index ldc)
{
    CblasFlags flags(name, layout);
    const char a = flags.op(2, "Illegal TransA setting, %d\n", transa), b = flags.op(3, "Illegal TransB setting, %d\n", transb);
    if (flags.failed()) return;
    flags.report(flags.row_major() ? Faces<T>::gemm(b, a, n, m, k, alpha, B, ldb, A, lda, beta, C, ldc)
                                   : Faces<T>::gemm(a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc));
}

template <Scalar T, auto routine>
void cblas_side(const char* name, int layout, int side, int uplo, Index m, Index n, const T* alpha, const T* A, Index lda,
                const T* B, Index ldb, const T* beta, T* C, Index ldc)
{
    CblasFlags flags(name, layout);
    const char where = flags.side(2, side), triangle = flags.uplo(3, uplo);
    if (flags.failed()) return;
    if (flags.row_major()) std::swap(m, n);
    flags.report(routine(where, triangle, m, n, alpha, A, lda, B, ldb, beta, C, ldc));
}

template <Scalar T, class Factor, auto routine>
void cblas_rank_k(const char* name, char transposed, int layout, int uplo, int trans, Index n, Index k, const Factor* alpha,
                  const T* A, Index lda, const Factor* beta, T* C, Index ldc)
{
    CblasFlags flags(name, layout);
    const char triangle = flags.uplo(2, uplo), op = flags.rank_op<T>(3, trans, transposed);
    if (flags.failed()) return;
    flags.report(routine(triangle, op, n, k, alpha, A, lda, beta, C, ldc));
}

template <Scalar T, class Beta, auto routine>
void cblas_rank_2k(const char* name, char transposed, int layout, int uplo, int trans, Index n, Index k, const T* alpha,
                   const T* A, Index lda, const T* B, Index ldb, const Beta* beta, T* C, Index ldc)
{
    CblasFlags flags(name, layout);
    const char triangle = flags.uplo(2, uplo), op = flags.rank_op<T>(3, trans, transposed);
    if (flags.failed()) return;
    // The transpose of a Hermitian update has the conjugate of alpha; of a symmetric one nothing changes.
    const T turned = flags.row_major() && transposed == 'C' ? conjugate(*alpha) : *alpha;
    flags.report(routine(triangle, op, n, k, &turned, A, lda, B, ldb, beta, C, ldc));
}

template <Scalar T, auto routine>
void cblas_triangular(const char* name, int layout, int side, int uplo, int transa, int diag, Index m, Index n, const T* alpha,
                      const T* A, Index lda, T* B, Index ldb)
{
    CblasFlags flags(name, layout);
    const char where = flags.side(2, side), triangle = flags.uplo(3, uplo);
    const char op = flags.op(4, "Illegal Trans setting, %d\n", transa), ones = flags.diag(5, diag);
    if (flags.failed()) return;
    if (flags.row_major()) std::swap(m, n);
    flags.report(routine(where, triangle, op, ones, m, n, alpha, A, lda, B, ldb));
}

template <class T> const T* typed(const void* A) { return static_cast<const T*>(A); }
template <class T> T* typed(void* A) { return static_cast<T*>(A); }

} // namespace
} // namespace trencadis::face

using namespace trencadis;
using namespace trencadis::face;

// Real factors come by value, complex ones by address and without a type, as complex matrices do.
#define TRC_IN(T) const T*
#define TRC_OUT(T) T*
#define TRC_VALUE(T) T
#define TRC_AT(x) &x
#define TRC_VOID_IN(T) const void*
#define TRC_VOID_OUT(T) void*
#define TRC_ITSELF(x) x

#define TRC_GEMM(SYMBOL, LABEL, T, R, INT, IN, OUT, FACTOR, OF)                                                                  \
    void SYMBOL(int layout, int transa, int transb, INT m, INT n, INT k, FACTOR(T) alpha, IN(T) a, INT lda, IN(T) b, INT ldb,    \
                FACTOR(T) beta, OUT(T) c, INT ldc)                                                                               \
    {                                                                                                                            \
        cblas_gemm<T>(LABEL, layout, transa, transb, m, n, k, typed<T>(OF(alpha)), typed<T>(a), lda, typed<T>(b), ldb,           \
                      typed<T>(OF(beta)), typed<T>(c), ldc);                                                                     \
    }
#define TRC_SIDE(ROUTINE, SYMBOL, LABEL, T, INT, IN, OUT, FACTOR, OF)                                                            \
    void SYMBOL(int layout, int side, int uplo, INT m, INT n, FACTOR(T) alpha, IN(T) a, INT lda, IN(T) b, INT ldb,               \
                FACTOR(T) beta, OUT(T) c, INT ldc)                                                                               \
    {                                                                                                                            \
        cblas_side<T, Faces<T>::ROUTINE>(LABEL, layout, side, uplo, m, n, typed<T>(OF(alpha)), typed<T>(a), lda, typed<T>(b),    \
                                         ldb, typed<T>(OF(beta)), typed<T>(c), ldc);                                             \
    }
#define TRC_TRIANGULAR(ROUTINE, SYMBOL, LABEL, T, INT, IN, OUT, FACTOR, OF)                                                      \
    void SYMBOL(int layout, int side, int uplo, int transa, int diag, INT m, INT n, FACTOR(T) alpha, IN(T) a, INT lda, OUT(T) b, \
                INT ldb)                                                                                                         \
    {                                                                                                                            \
        cblas_triangular<T, Faces<T>::ROUTINE>(LABEL, layout, side, uplo, transa, diag, m, n, typed<T>(OF(alpha)), typed<T>(a),  \
                                               lda, typed<T>(b), ldb);                                                           \
    }
#define TRC_SYMM(SYMBOL, LABEL, T, R, ...) TRC_SIDE(symm, SYMBOL, LABEL, T, __VA_ARGS__)
#define TRC_HEMM(SYMBOL, LABEL, T, R, ...) TRC_SIDE(hemm, SYMBOL, LABEL, T, __VA_ARGS__)
#define TRC_TRMM(SYMBOL, LABEL, T, R, ...) TRC_TRIANGULAR(trmm, SYMBOL, LABEL, T, __VA_ARGS__)
#define TRC_TRSM(SYMBOL, LABEL, T, R, ...) TRC_TRIANGULAR(trsm, SYMBOL, LABEL, T, __VA_ARGS__)
#define TRC_SYRK(SYMBOL, LABEL, T, R, INT, IN, OUT, FACTOR, OF)                                                                  \
    void SYMBOL(int layout, int uplo, int trans, INT n, INT k, FACTOR(T) alpha, IN(T) a, INT lda, FACTOR(T) beta, OUT(T) c,      \
                INT ldc)                                                                                                         \
    {                                                                                                                            \
        cblas_rank_k<T, T, Faces<T>::syrk>(LABEL, 'T', layout, uplo, trans, n, k, typed<T>(OF(alpha)), typed<T>(a), lda,         \
                                           typed<T>(OF(beta)), typed<T>(c), ldc);                                                \
    }
#define TRC_HERK(SYMBOL, LABEL, T, R, INT, IN, OUT, FACTOR, OF)                                                                  \
    void SYMBOL(int layout, int uplo, int trans, INT n, INT k, R alpha, IN(T) a, INT lda, R beta, OUT(T) c, INT ldc)             \
    {                                                                                                                            \
        cblas_rank_k<T, R, Faces<T>::herk>(LABEL, 'C', layout, uplo, trans, n, k, &alpha, typed<T>(a), lda, &beta, typed<T>(c),  \
                                           ldc);                                                                                 \
    }
#define TRC_SYR2K(SYMBOL, LABEL, T, R, INT, IN, OUT, FACTOR, OF)                                                                 \
    void SYMBOL(int layout, int uplo, int trans, INT n, INT k, FACTOR(T) alpha, IN(T) a, INT lda, IN(T) b, INT ldb,              \
                FACTOR(T) beta, OUT(T) c, INT ldc)                                                                               \
    {                                                                                                                            \
        cblas_rank_2k<T, T, Faces<T>::syr2k>(LABEL, 'T', layout, uplo, trans, n, k, typed<T>(OF(alpha)), typed<T>(a), lda,       \
                                             typed<T>(b), ldb, typed<T>(OF(beta)), typed<T>(c), ldc);                            \
    }
#define TRC_HER2K(SYMBOL, LABEL, T, R, INT, IN, OUT, FACTOR, OF)                                                                 \
    void SYMBOL(int layout, int uplo, int trans, INT n, INT k, FACTOR(T) alpha, IN(T) a, INT lda, IN(T) b, INT ldb, R beta,      \
                OUT(T) c, INT ldc)                                                                                               \
    {                                                                                                                            \
        cblas_rank_2k<T, R, Faces<T>::her2k>(LABEL, 'C', layout, uplo, trans, n, k, typed<T>(alpha), typed<T>(a), lda,           \
                                             typed<T>(b), ldb, &beta, typed<T>(c), ldc);                                         \
    }

// A routine under all its names.
#define TRC_ALIAS(NAME, OF) decltype(OF) NAME __attribute__((alias(#OF)));
#define TRC_FAMILIES(DEFINE, NAME, T, R, ...)                                                                                    \
    DEFINE(NAME, #NAME, T, R, std::int32_t, __VA_ARGS__)                                                                         \
    TRC_ALIAS(scipy_##NAME, NAME)                                                                                                \
    DEFINE(NAME##64_, #NAME, T, R, std::int64_t, __VA_ARGS__)                                                                    \
    TRC_ALIAS(NAME##_64, NAME##64_)                                                                                              \
    TRC_ALIAS(scipy_##NAME##64_, NAME##64_)
#define TRC_COMPLEX(DEFINE, ROUTINE)                                                                                             \
    TRC_FAMILIES(DEFINE, cblas_c##ROUTINE, std::complex<float>, float, TRC_VOID_IN, TRC_VOID_OUT, TRC_VOID_IN, TRC_ITSELF)       \
    TRC_FAMILIES(DEFINE, cblas_z##ROUTINE, std::complex<double>, double, TRC_VOID_IN, TRC_VOID_OUT, TRC_VOID_IN, TRC_ITSELF)
#define TRC_ALL(DEFINE, ROUTINE)                                                                                                 \
    TRC_FAMILIES(DEFINE, cblas_s##ROUTINE, float, float, TRC_IN, TRC_OUT, TRC_VALUE, TRC_AT)                                     \
    TRC_FAMILIES(DEFINE, cblas_d##ROUTINE, double, double, TRC_IN, TRC_OUT, TRC_VALUE, TRC_AT)                                   \
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

} // extern "C"
