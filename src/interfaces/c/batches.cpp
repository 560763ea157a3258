#include "interfaces/c/edge.hpp"
#include "session/linear_algebra.hpp"

#include "algorithms/arguments.hpp"

// Batches: many small problems of one size as one call.

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

extern "C" {

TRC_BATCHES(s, float)
TRC_BATCHES(d, double)
TRC_BATCHES(c, trc_complex_float)
TRC_BATCHES(z, trc_complex_double)

} // extern "C"
