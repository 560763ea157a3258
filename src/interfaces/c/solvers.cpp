#include "drivers/linear_algebra.hpp"
#include "interfaces/c/edge.hpp"

#include "algorithms/arguments.hpp"

// Row interchanges, batches, many small problems of one size as one call, and solutions in mixed precision.

using namespace trencadis;
using namespace trencadis::c;

namespace {

Uplo letter_of(char uplo)
{
    const argument::Flag<Uplo> flag{"uplo", uplo};
    flag.require(1);
    return flag.given;
}

} // namespace

#define TRC_INTERCHANGES(p, T)                                                                                                   \
    int trc_##p##laswp(int64_t m, int64_t n, T* a, int64_t lda, int64_t first, int64_t last, const int64_t* ipiv, int backward)  \
    {                                                                                                                            \
        return guarded([&] { laswp(m, n, a, lda, first, last, ipiv, backward != 0); });                                          \
    }
#define TRC_BATCHES(p, T)                                                                                                        \
    int trc_##p##potrf_batch(trc_session* session, char uplo, int64_t n, T* a, int64_t lda, int64_t stride_a, int64_t count,     \
                             int64_t* info)                                                                                      \
    {                                                                                                                            \
        return guarded([&] { potrf_batch(session_of(session), letter_of(uplo), n, a, lda, stride_a, count, info); });            \
    }                                                                                                                            \
    int trc_##p##posv_batch(trc_session* session, char uplo, int64_t n, int64_t nrhs, T* a, int64_t lda, int64_t stride_a, T* b, \
                            int64_t ldb, int64_t stride_b, int64_t count, int64_t* info)                                         \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            posv_batch(session_of(session), letter_of(uplo), n, nrhs, a, lda, stride_a, b, ldb, stride_b, count, info);          \
        });                                                                                                                      \
    }                                                                                                                            \
    int trc_##p##getrf_batch(trc_session* session, int64_t m, int64_t n, T* a, int64_t lda, int64_t stride_a, int64_t* ipiv,     \
                             int64_t count, int64_t* info)                                                                       \
    {                                                                                                                            \
        return guarded([&] { getrf_batch(session_of(session), m, n, a, lda, stride_a, ipiv, count, info); });                    \
    }                                                                                                                            \
    int trc_##p##gesv_batch(trc_session* session, int64_t n, int64_t nrhs, T* a, int64_t lda, int64_t stride_a, int64_t* ipiv,   \
                            T* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info)                                   \
    {                                                                                                                            \
        return guarded(                                                                                                          \
            [&] { gesv_batch(session_of(session), n, nrhs, a, lda, stride_a, ipiv, b, ldb, stride_b, count, info); });           \
    }

#define TRC_MIXED(p, T)                                                                                                          \
    int trc_##p##gesv_mixed(trc_session* session, int64_t n, int64_t nrhs, T* a, int64_t lda, int64_t* ipiv, const T* b,         \
                            int64_t ldb, T* x, int64_t ldx, int* iterations, int64_t* info)                                      \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            require(info, 11, "info");                                                                                           \
            *info = 0;                                                                                                           \
            *info = gesv_mixed(session_of(session), n, nrhs, a, lda, ipiv, b, ldb, x, ldx, iterations);                          \
        });                                                                                                                      \
    }                                                                                                                            \
    int trc_##p##posv_mixed(trc_session* session, char uplo, int64_t n, int64_t nrhs, T* a, int64_t lda, const T* b,             \
                            int64_t ldb, T* x, int64_t ldx, int* iterations, int64_t* info)                                      \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            require(info, 11, "info");                                                                                           \
            *info = 0;                                                                                                           \
            *info = posv_mixed(session_of(session), letter_of(uplo), n, nrhs, a, lda, b, ldb, x, ldx, iterations);               \
        });                                                                                                                      \
    }                                                                                                                            \
    int trc_##p##gels_mixed(trc_session* session, int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, const T* b,             \
                            int64_t ldb, T* x, int64_t ldx, int* iterations, int64_t* info)                                      \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            require(info, 11, "info");                                                                                           \
            *info = 0;                                                                                                           \
            *info = gels_mixed(session_of(session), m, n, nrhs, a, lda, b, ldb, x, ldx, iterations);                             \
        });                                                                                                                      \
    }

extern "C" {

TRC_INTERCHANGES(s, float)
TRC_INTERCHANGES(d, double)
TRC_INTERCHANGES(c, trc_complex_float)
TRC_INTERCHANGES(z, trc_complex_double)
TRC_BATCHES(s, float)
TRC_BATCHES(d, double)
TRC_BATCHES(c, trc_complex_float)
TRC_BATCHES(z, trc_complex_double)
TRC_MIXED(d, double)
TRC_MIXED(z, trc_complex_double)

} // extern "C"
