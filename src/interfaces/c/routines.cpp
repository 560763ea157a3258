#include "algorithms/signatures.hpp"
#include "drivers/linear_algebra.hpp"
#include "interfaces/c/edge.hpp"

// The routines of algorithms/signatures.hpp as C functions: letters and sizes by value, real factors by value, complex ones by
// address.

namespace trencadis::c {
namespace {

template <Scalar T> struct Calls {
#define TRC_BLAS(routine, ...)                                                                                                   \
    static int routine(trc_session* session, TRC_ARGUMENTS_##routine(TRC_FACE))                                                  \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            argument::require(TRC_ARGUMENTS_##routine(TRC_CHECK));                                                               \
            trencadis::routine(session_of(session), TRC_ARGUMENTS_##routine(TRC_PASS));                                          \
        });                                                                                                                      \
    }
#define TRC_LAPACK(routine, ...)                                                                                                 \
    static int routine(trc_session* session, TRC_ARGUMENTS_##routine(TRC_FACE), std::int64_t* info)                              \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            require(info, argument::count(TRC_ARGUMENTS_##routine(TRC_CHECK)) + 1, "info");                                      \
            *info = 0;                                                                                                           \
            argument::require(TRC_ARGUMENTS_##routine(TRC_CHECK));                                                               \
            *info =                                                                                                              \
                argument::outcome([&] { return trencadis::routine(session_of(session), TRC_ARGUMENTS_##routine(TRC_PASS)); });   \
        });                                                                                                                      \
    }
#define TRC_NORM(function, ...)                                                                                                  \
    static int function(trc_session* session, TRC_ARGUMENTS_##function(TRC_FACE), Real<T>* value)                                \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            require(value, argument::count(TRC_ARGUMENTS_##function(TRC_CHECK)) + 1, "value");                                   \
            argument::require(TRC_ARGUMENTS_##function(TRC_CHECK));                                                              \
            *value = trencadis::function(session_of(session), TRC_ARGUMENTS_##function(TRC_PASS));                               \
        });                                                                                                                      \
    }
    TRC_BLAS_ROUTINES(TRC_BLAS)
    TRC_LAPACK_ROUTINES(TRC_LAPACK)
    TRC_NORM_ROUTINES(TRC_NORM)
#define TRC_REFLECTORS(routine, ...)                                                                                             \
    static int routine(TRC_ARGUMENTS_##routine(TRC_FACE))                                                                        \
    {                                                                                                                            \
        return guarded([&] {                                                                                                     \
            argument::require(TRC_ARGUMENTS_##routine(TRC_CHECK));                                                               \
            trencadis::routine(TRC_ARGUMENTS_##routine(TRC_PASS));                                                               \
        });                                                                                                                      \
    }
    TRC_REFLECTOR_ROUTINES(TRC_REFLECTORS)
#undef TRC_REFLECTORS
#undef TRC_NORM
#undef TRC_BLAS
#undef TRC_LAPACK
};

/// A factor's address, where it came by value or by address.
template <class T> const T* address_of(const T& by_value) { return &by_value; }
template <class T> const T* address_of(const T* const& by_address) { return by_address; }

} // namespace
} // namespace trencadis::c

using namespace trencadis;
using namespace trencadis::c;

// The parameters of a symbol, and how its call gets them; T is the scalar, Value how its factors come.
#define TRC_C_FLAG(E, x, text) char x
#define TRC_C_RANK_OP(x, text, transposed) char x
#define TRC_C_SIZE(x) int64_t x
#define TRC_C_FACTOR(x) Value x
#define TRC_C_REAL_FACTOR(x) Real<T> x
#define TRC_C_IN(A, ld, rows, cols) const T *A, int64_t ld
#define TRC_C_INOUT(A, ld, rows, cols) T *A, int64_t ld
#define TRC_C_TRIANGLE_IN(A, ld, n, uplo) const T *A, int64_t ld
#define TRC_C_TRIANGLE_INOUT(A, ld, n, uplo) T *A, int64_t ld
#define TRC_C_TRAPEZOID_IN(A, ld, rows, cols, uplo) const T *A, int64_t ld
#define TRC_C_CONDITION_NORM(x) char x
#define TRC_C_MAGNITUDE(x) Real<T> x
#define TRC_C_REALS_OUT(x, count) Real<T>* x
#define TRC_C_PIVOTS_IN(x, count, rows) const int64_t* x
#define TRC_C_PIVOTS_OUT(x, count) int64_t* x
#define TRC_C_HERM_OP(x, text) char x
#define TRC_C_WITHIN(x, least, most) int64_t x
#define TRC_C_OUT(A, ld, rows, cols) T *A, int64_t ld
#define TRC_C_TAU_IN(x, count) const T* x
#define TRC_C_TAU_OUT(x, count) T* x
#define TRC_C_GIVEN_INOUT(A, ld, rows, cols, fact) T *A, int64_t ld
#define TRC_C_GIVEN_TRIANGLE(A, ld, n, uplo, fact) T *A, int64_t ld
#define TRC_C_GIVEN_PIVOTS(x, count, fact) int64_t* x
#define TRC_C_EQUED(x, letters, fact) char* x
#define TRC_C_SCALES(x, count, used) Real<T>* x
#define TRC_C_GROWTH(x) , Real<T>* x

#define TRC_TAKE_FLAG(E, x, text) x
#define TRC_TAKE_RANK_OP(x, text, transposed) x
#define TRC_TAKE_SIZE(x) x
#define TRC_TAKE_FACTOR(x) address_of<T>(x)
#define TRC_TAKE_REAL_FACTOR(x) &x
#define TRC_TAKE_IN(A, ld, rows, cols) A, ld
#define TRC_TAKE_INOUT(A, ld, rows, cols) A, ld
#define TRC_TAKE_TRIANGLE_IN(A, ld, n, uplo) A, ld
#define TRC_TAKE_TRIANGLE_INOUT(A, ld, n, uplo) A, ld
#define TRC_TAKE_TRAPEZOID_IN(A, ld, rows, cols, uplo) A, ld
#define TRC_TAKE_CONDITION_NORM(x) x
#define TRC_TAKE_MAGNITUDE(x) &x
#define TRC_TAKE_REALS_OUT(x, count) x
#define TRC_TAKE_PIVOTS_IN(x, count, rows) x
#define TRC_TAKE_PIVOTS_OUT(x, count) x
#define TRC_TAKE_HERM_OP(x, text) x
#define TRC_TAKE_WITHIN(x, least, most) x
#define TRC_TAKE_OUT(A, ld, rows, cols) A, ld
#define TRC_TAKE_TAU_IN(x, count) x
#define TRC_TAKE_TAU_OUT(x, count) x
#define TRC_TAKE_GIVEN_INOUT(A, ld, rows, cols, fact) A, ld
#define TRC_TAKE_GIVEN_TRIANGLE(A, ld, n, uplo, fact) A, ld
#define TRC_TAKE_GIVEN_PIVOTS(x, count, fact) x
#define TRC_TAKE_EQUED(x, letters, fact) x
#define TRC_TAKE_SCALES(x, count, used) x
#define TRC_TAKE_GROWTH(x) , x

#define TRC_BLAS_SYMBOL(routine, p)                                                                                              \
    int trc_##p##routine(trc_session* session, TRC_ARGUMENTS_##routine(TRC_C))                                                   \
    {                                                                                                                            \
        return Calls<T>::routine(session, TRC_ARGUMENTS_##routine(TRC_TAKE));                                                    \
    }
#define TRC_LAPACK_SYMBOL(routine, p) TRC_NAMED_SYMBOL(routine, routine, p)
/// Some have another name in complex precisions.
#define TRC_NAMED_SYMBOL(name, routine, p)                                                                                       \
    int trc_##p##name(trc_session* session, TRC_ARGUMENTS_##routine(TRC_C), int64_t* info)                                       \
    {                                                                                                                            \
        return Calls<T>::routine(session, TRC_ARGUMENTS_##routine(TRC_TAKE), info);                                              \
    }
#define TRC_NORM_SYMBOL(function, p)                                                                                             \
    int trc_##p##function(trc_session* session, TRC_ARGUMENTS_##function(TRC_C), Real<T>* value)                                 \
    {                                                                                                                            \
        return Calls<T>::function(session, TRC_ARGUMENTS_##function(TRC_TAKE), value);                                           \
    }
#define TRC_REFLECTOR_SYMBOL(routine, p)                                                                                         \
    int trc_##p##routine(TRC_ARGUMENTS_##routine(TRC_C)) { return Calls<T>::routine(TRC_ARGUMENTS_##routine(TRC_TAKE)); }
#define TRC_SYMBOLS(p, SCALAR, VALUE, BLAS_LIST, NORM_LIST, Q_LIST, Q_SYMBOL)                                                    \
    namespace symbols::p {                                                                                                       \
    using T = SCALAR;                                                                                                            \
    using Value = VALUE;                                                                                                         \
    extern "C" {                                                                                                                 \
    BLAS_LIST(TRC_BLAS_SYMBOL, p)                                                                                                \
    TRC_PLAIN_ROUTINES(TRC_LAPACK_SYMBOL, p)                                                                                     \
    TRC_SCRATCH_ROUTINES(TRC_LAPACK_SYMBOL, p)                                                                                   \
    TRC_PIVOTED_ROUTINES(TRC_LAPACK_SYMBOL, p)                                                                                   \
    TRC_WORKSPACE_ROUTINES(TRC_LAPACK_SYMBOL, p)                                                                                 \
    TRC_ESTIMATE_ROUTINES(TRC_LAPACK_SYMBOL, p)                                                                                  \
    TRC_EXPERT_ROUTINES(TRC_LAPACK_SYMBOL, p)                                                                                    \
    Q_LIST(Q_SYMBOL, p)                                                                                                          \
    TRC_REFLECTOR_ROUTINES(TRC_REFLECTOR_SYMBOL, p)                                                                              \
    NORM_LIST(TRC_NORM_SYMBOL, p)                                                                                                \
    }                                                                                                                            \
    }

TRC_SYMBOLS(s, float, float, TRC_REAL_BLAS_ROUTINES, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, TRC_LAPACK_SYMBOL)
TRC_SYMBOLS(d, double, double, TRC_REAL_BLAS_ROUTINES, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, TRC_LAPACK_SYMBOL)
TRC_SYMBOLS(c, trc_complex_float, const trc_complex_float*, TRC_BLAS_ROUTINES, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES,
            TRC_NAMED_SYMBOL)
TRC_SYMBOLS(z, trc_complex_double, const trc_complex_double*, TRC_BLAS_ROUTINES, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES,
            TRC_NAMED_SYMBOL)
