#include "interfaces/c/edge.hpp"
#include "session/linear_algebra.hpp"

using namespace trencadis;
using namespace trencadis::c;

namespace {

template <Scalar T> int potrf_c(trc_session* session, char uplo, std::int64_t n, T* a, std::int64_t lda, std::int64_t* info)
{
    return guarded([&] {
        require(info, 5, "info");
        *info = 0;
        *info = potrf(session_of(session), uplo_of(1, uplo), n, a, lda);
    });
}

template <Scalar T>
int potrs_c(trc_session* session, char uplo, std::int64_t n, std::int64_t nrhs, const T* a, std::int64_t lda, T* b,
            std::int64_t ldb, std::int64_t* info)
{
    return guarded([&] {
        require(info, 8, "info");
        *info = 0;
        potrs(session_of(session), uplo_of(1, uplo), n, nrhs, a, lda, b, ldb);
    });
}

template <Scalar T>
int posv_c(trc_session* session, char uplo, std::int64_t n, std::int64_t nrhs, T* a, std::int64_t lda, T* b, std::int64_t ldb,
           std::int64_t* info)
{
    return guarded([&] {
        require(info, 8, "info");
        *info = 0;
        *info = posv(session_of(session), uplo_of(1, uplo), n, nrhs, a, lda, b, ldb);
    });
}

template <Scalar T>
int gemm_c(trc_session* session, char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
           const T* a, std::int64_t lda, const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc)
{
    return guarded([&] {
        require(alpha, 6, "alpha");
        require(beta, 11, "beta");
        gemm(session_of(session), op_of(1, "transa", transa), op_of(2, "transb", transb), m, n, k, *alpha, a, lda, b, ldb, *beta,
             c, ldc);
    });
}

template <Scalar T>
int syrk_c(trc_session* session, char uplo, char trans, std::int64_t n, std::int64_t k, const T* alpha, const T* a,
           std::int64_t lda, const T* beta, T* c, std::int64_t ldc)
{
    return guarded([&] {
        require(alpha, 5, "alpha");
        require(beta, 8, "beta");
        syrk(session_of(session), uplo_of(1, uplo), op_of(2, "trans", trans), n, k, *alpha, a, lda, *beta, c, ldc);
    });
}

template <Scalar T>
int herk_c(trc_session* session, char uplo, char trans, std::int64_t n, std::int64_t k, Real<T> alpha, const T* a,
           std::int64_t lda, Real<T> beta, T* c, std::int64_t ldc)
{
    return guarded(
        [&] { herk(session_of(session), uplo_of(1, uplo), op_of(2, "trans", trans), n, k, alpha, a, lda, beta, c, ldc); });
}

template <Scalar T>
int symm_c(trc_session* session, char side, char uplo, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
           std::int64_t lda, const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc)
{
    return guarded([&] {
        require(alpha, 5, "alpha");
        require(beta, 10, "beta");
        symm(session_of(session), side_of(1, side), uplo_of(2, uplo), m, n, *alpha, a, lda, b, ldb, *beta, c, ldc);
    });
}

template <Scalar T>
int hemm_c(trc_session* session, char side, char uplo, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
           std::int64_t lda, const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc)
{
    return guarded([&] {
        require(alpha, 5, "alpha");
        require(beta, 10, "beta");
        hemm(session_of(session), side_of(1, side), uplo_of(2, uplo), m, n, *alpha, a, lda, b, ldb, *beta, c, ldc);
    });
}

template <Scalar T>
int syr2k_c(trc_session* session, char uplo, char trans, std::int64_t n, std::int64_t k, const T* alpha, const T* a,
            std::int64_t lda, const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc)
{
    return guarded([&] {
        require(alpha, 5, "alpha");
        require(beta, 10, "beta");
        syr2k(session_of(session), uplo_of(1, uplo), op_of(2, "trans", trans), n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
    });
}

template <Scalar T>
int her2k_c(trc_session* session, char uplo, char trans, std::int64_t n, std::int64_t k, const T* alpha, const T* a,
            std::int64_t lda, const T* b, std::int64_t ldb, Real<T> beta, T* c, std::int64_t ldc)
{
    return guarded([&] {
        require(alpha, 5, "alpha");
        her2k(session_of(session), uplo_of(1, uplo), op_of(2, "trans", trans), n, k, *alpha, a, lda, b, ldb, beta, c, ldc);
    });
}

template <Scalar T>
int trmm_c(trc_session* session, char side, char uplo, char transa, char diag, std::int64_t m, std::int64_t n, const T* alpha,
           const T* a, std::int64_t lda, T* b, std::int64_t ldb)
{
    return guarded([&] {
        require(alpha, 7, "alpha");
        trmm(session_of(session), side_of(1, side), uplo_of(2, uplo), op_of(3, "transa", transa), diag_of(4, diag), m, n, *alpha,
             a, lda, b, ldb);
    });
}

template <Scalar T>
int trsm_c(trc_session* session, char side, char uplo, char transa, char diag, std::int64_t m, std::int64_t n, const T* alpha,
           const T* a, std::int64_t lda, T* b, std::int64_t ldb)
{
    return guarded([&] {
        require(alpha, 7, "alpha");
        trsm(session_of(session), side_of(1, side), uplo_of(2, uplo), op_of(3, "transa", transa), diag_of(4, diag), m, n, *alpha,
             a, lda, b, ldb);
    });
}

} // namespace

// Real factors come by value, complex ones by address.
#define TRC_BY_VALUE(T) T
#define TRC_BY_ADDRESS(T) const T*
#define TRC_OF_VALUE(x) &x
#define TRC_OF_ADDRESS(x) x

#define TRC_ROUTINES(p, T, FACTOR, OF)                                                                                           \
    int trc_##p##potrf(trc_session* s, char uplo, int64_t n, T* a, int64_t lda, int64_t* info)                                   \
    {                                                                                                                            \
        return potrf_c(s, uplo, n, a, lda, info);                                                                                \
    }                                                                                                                            \
    int trc_##p##potrs(trc_session* s, char uplo, int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb,           \
                       int64_t* info)                                                                                            \
    {                                                                                                                            \
        return potrs_c(s, uplo, n, nrhs, a, lda, b, ldb, info);                                                                  \
    }                                                                                                                            \
    int trc_##p##posv(trc_session* s, char uplo, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb, int64_t* info)   \
    {                                                                                                                            \
        return posv_c(s, uplo, n, nrhs, a, lda, b, ldb, info);                                                                   \
    }                                                                                                                            \
    int trc_##p##gemm(trc_session* s, char transa, char transb, int64_t m, int64_t n, int64_t k, FACTOR(T) alpha, const T* a,    \
                      int64_t lda, const T* b, int64_t ldb, FACTOR(T) beta, T* c, int64_t ldc)                                   \
    {                                                                                                                            \
        return gemm_c<T>(s, transa, transb, m, n, k, OF(alpha), a, lda, b, ldb, OF(beta), c, ldc);                               \
    }                                                                                                                            \
    int trc_##p##syrk(trc_session* s, char uplo, char trans, int64_t n, int64_t k, FACTOR(T) alpha, const T* a, int64_t lda,     \
                      FACTOR(T) beta, T* c, int64_t ldc)                                                                         \
    {                                                                                                                            \
        return syrk_c<T>(s, uplo, trans, n, k, OF(alpha), a, lda, OF(beta), c, ldc);                                             \
    }                                                                                                                            \
    int trc_##p##symm(trc_session* s, char side, char uplo, int64_t m, int64_t n, FACTOR(T) alpha, const T* a, int64_t lda,      \
                      const T* b, int64_t ldb, FACTOR(T) beta, T* c, int64_t ldc)                                                \
    {                                                                                                                            \
        return symm_c<T>(s, side, uplo, m, n, OF(alpha), a, lda, b, ldb, OF(beta), c, ldc);                                      \
    }                                                                                                                            \
    int trc_##p##syr2k(trc_session* s, char uplo, char trans, int64_t n, int64_t k, FACTOR(T) alpha, const T* a, int64_t lda,    \
                       const T* b, int64_t ldb, FACTOR(T) beta, T* c, int64_t ldc)                                               \
    {                                                                                                                            \
        return syr2k_c<T>(s, uplo, trans, n, k, OF(alpha), a, lda, b, ldb, OF(beta), c, ldc);                                    \
    }                                                                                                                            \
    int trc_##p##trmm(trc_session* s, char side, char uplo, char transa, char diag, int64_t m, int64_t n, FACTOR(T) alpha,       \
                      const T* a, int64_t lda, T* b, int64_t ldb)                                                                \
    {                                                                                                                            \
        return trmm_c<T>(s, side, uplo, transa, diag, m, n, OF(alpha), a, lda, b, ldb);                                          \
    }                                                                                                                            \
    int trc_##p##trsm(trc_session* s, char side, char uplo, char transa, char diag, int64_t m, int64_t n, FACTOR(T) alpha,       \
                      const T* a, int64_t lda, T* b, int64_t ldb)                                                                \
    {                                                                                                                            \
        return trsm_c<T>(s, side, uplo, transa, diag, m, n, OF(alpha), a, lda, b, ldb);                                          \
    }

#define TRC_HERMITIAN(p, T, R)                                                                                                   \
    int trc_##p##hemm(trc_session* s, char side, char uplo, int64_t m, int64_t n, const T* alpha, const T* a, int64_t lda,       \
                      const T* b, int64_t ldb, const T* beta, T* c, int64_t ldc)                                                 \
    {                                                                                                                            \
        return hemm_c<T>(s, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                                              \
    }                                                                                                                            \
    int trc_##p##herk(trc_session* s, char uplo, char trans, int64_t n, int64_t k, R alpha, const T* a, int64_t lda, R beta,     \
                      T* c, int64_t ldc)                                                                                         \
    {                                                                                                                            \
        return herk_c<T>(s, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);                                                     \
    }                                                                                                                            \
    int trc_##p##her2k(trc_session* s, char uplo, char trans, int64_t n, int64_t k, const T* alpha, const T* a, int64_t lda,     \
                       const T* b, int64_t ldb, R beta, T* c, int64_t ldc)                                                       \
    {                                                                                                                            \
        return her2k_c<T>(s, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                            \
    }

extern "C" {

TRC_ROUTINES(s, float, TRC_BY_VALUE, TRC_OF_VALUE)
TRC_ROUTINES(d, double, TRC_BY_VALUE, TRC_OF_VALUE)
TRC_ROUTINES(c, trc_complex_float, TRC_BY_ADDRESS, TRC_OF_ADDRESS)
TRC_ROUTINES(z, trc_complex_double, TRC_BY_ADDRESS, TRC_OF_ADDRESS)

TRC_HERMITIAN(c, trc_complex_float, float)
TRC_HERMITIAN(z, trc_complex_double, double)

} // extern "C"
