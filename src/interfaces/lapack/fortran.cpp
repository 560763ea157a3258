#include "base/types.hpp"
#include "interfaces/lapack/faces.hpp"
#include "interfaces/lapack/precision.hpp"
#include "interfaces/lapack/xerbla.hpp"

#include <complex>
#include <cstdint>

// The Fortran symbols. Everything comes by address; the hidden lengths of the letters, which callers may or may not pass after
// the last argument, are not looked at. Every routine exists with 32-bit integers, as dgemm_ and scipy_dgemm_, and with 64-bit
// ones, as dgemm_64_, dgemm_64 and scipy_dgemm_64_.

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

// The parameters of a symbol, and how a face gets them; T is the scalar and Int the integer.
#define TRC_FORTRAN_FLAG(E, x, text) const char* x
#define TRC_FORTRAN_RANK_OP(x, text, transposed) const char* x
#define TRC_FORTRAN_SIZE(x) const Int* x
#define TRC_FORTRAN_FACTOR(x) const T* x
#define TRC_FORTRAN_REAL_FACTOR(x) const Real<T>* x
#define TRC_FORTRAN_IN(A, ld, rows, cols) const T *A, const Int *ld
#define TRC_FORTRAN_INOUT(A, ld, rows, cols) T *A, const Int *ld
#define TRC_FORTRAN_TRIANGLE_IN(A, ld, n, uplo) const T *A, const Int *ld
#define TRC_FORTRAN_TRIANGLE_INOUT(A, ld, n, uplo) T *A, const Int *ld
#define TRC_FORTRAN_TRAPEZOID_IN(A, ld, rows, cols, uplo) const T *A, const Int *ld
#define TRC_FORTRAN_CONDITION_NORM(x) const char* x
#define TRC_FORTRAN_MAGNITUDE(x) const Real<T>* x
#define TRC_FORTRAN_REALS_OUT(x, count) Real<T>* x
#define TRC_FORTRAN_PIVOTS_IN(x, count, rows) const Int* x
#define TRC_FORTRAN_PIVOTS_OUT(x, count) Int* x
#define TRC_FORTRAN_HERM_OP(x, text) const char* x
#define TRC_FORTRAN_WITHIN(x, least, most) const Int* x
#define TRC_FORTRAN_OUT(A, ld, rows, cols) T *A, const Int *ld
#define TRC_FORTRAN_TAU_IN(x, count) const T* x
#define TRC_FORTRAN_TAU_OUT(x, count) T* x
#define TRC_FORTRAN_GIVEN_INOUT(A, ld, rows, cols, fact) T *A, const Int *ld
#define TRC_FORTRAN_GIVEN_TRIANGLE(A, ld, n, uplo, fact) T *A, const Int *ld
#define TRC_FORTRAN_GIVEN_PIVOTS(x, count, fact) Int* x
#define TRC_FORTRAN_EQUED(x, letters, fact) char* x
#define TRC_FORTRAN_SCALES(x, count, used) Real<T>* x
#define TRC_FORTRAN_GROWTH(x)

#define TRC_READ_FLAG(E, x, text) *x
#define TRC_READ_RANK_OP(x, text, transposed) *x
#define TRC_READ_SIZE(x) *x
#define TRC_READ_FACTOR(x) x
#define TRC_READ_REAL_FACTOR(x) x
#define TRC_READ_IN(A, ld, rows, cols) A, *ld
#define TRC_READ_INOUT(A, ld, rows, cols) A, *ld
#define TRC_READ_TRIANGLE_IN(A, ld, n, uplo) A, *ld
#define TRC_READ_TRIANGLE_INOUT(A, ld, n, uplo) A, *ld
#define TRC_READ_TRAPEZOID_IN(A, ld, rows, cols, uplo) A, *ld
#define TRC_READ_CONDITION_NORM(x) *x
#define TRC_READ_MAGNITUDE(x) x
#define TRC_READ_REALS_OUT(x, count) x
#define TRC_READ_PIVOTS_IN(x, count, rows) x
#define TRC_READ_PIVOTS_OUT(x, count) x
#define TRC_READ_HERM_OP(x, text) *x
#define TRC_READ_WITHIN(x, least, most) *x
#define TRC_READ_OUT(A, ld, rows, cols) A, *ld
#define TRC_READ_TAU_IN(x, count) x
#define TRC_READ_TAU_OUT(x, count) x
#define TRC_READ_GIVEN_INOUT(A, ld, rows, cols, fact) A, *ld
#define TRC_READ_GIVEN_TRIANGLE(A, ld, n, uplo, fact) A, *ld
#define TRC_READ_GIVEN_PIVOTS(x, count, fact) x
#define TRC_READ_EQUED(x, letters, fact) x
#define TRC_READ_SCALES(x, count, used) x
#define TRC_READ_GROWTH(x) , face::first_real(work, second)

#define TRC_BLAS_SYMBOL(ROUTINE, SYMBOL, LABEL)                                                                                  \
    void SYMBOL(TRC_ARGUMENTS_##ROUTINE(TRC_FORTRAN))                                                                            \
    {                                                                                                                            \
        face::blas_result(LABEL, face::Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_READ)));                                    \
    }
#define TRC_LAPACK_SYMBOL(ROUTINE, SYMBOL, LABEL)                                                                                \
    void SYMBOL(TRC_ARGUMENTS_##ROUTINE(TRC_FORTRAN), Int* info)                                                                 \
    {                                                                                                                            \
        Index outcome = 0;                                                                                                       \
        const int bad = face::Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_READ), outcome);                                     \
        face::lapack_result(LABEL, bad, outcome, info);                                                                          \
    }

/// Arrays of work: of numbers, and of integers or real numbers. The first real number that they have between them is where gesvx
/// answers the growth.
#define TRC_WORKING_SYMBOL(ROUTINE, SYMBOL, LABEL)                                                                               \
    void SYMBOL(TRC_ARGUMENTS_##ROUTINE(TRC_FORTRAN), T* work, [[maybe_unused]] void* second, Int* info)                         \
    {                                                                                                                            \
        Index outcome = 0;                                                                                                       \
        const int bad = face::Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_READ), work, outcome);                               \
        face::lapack_result(LABEL, bad, outcome, info);                                                                          \
    }
#define TRC_NORM_SYMBOL(FUNCTION, SYMBOL, LABEL)                                                                                 \
    Real<T> SYMBOL(TRC_ARGUMENTS_##FUNCTION(TRC_FORTRAN), Real<T>* work)                                                         \
    {                                                                                                                            \
        return face::Faces<T>::FUNCTION(TRC_ARGUMENTS_##FUNCTION(TRC_READ), work);                                               \
    }

/// The workspace is asked for with lwork = -1, and looked at when all before it is in order.
#define TRC_WORKSPACE_SYMBOL(ROUTINE, SYMBOL, LABEL) TRC_WORKSPACE_SYMBOL_WITH(TRC_NOTHING, ROUTINE, SYMBOL, LABEL)
#define TRC_REAL_WORKSPACE_SYMBOL(ROUTINE, SYMBOL, LABEL) TRC_WORKSPACE_SYMBOL_WITH(TRC_REALS, ROUTINE, SYMBOL, LABEL)
#define TRC_NOTHING
#define TRC_REALS , Real<T>*
#define TRC_WORKSPACE_SYMBOL_WITH(MORE, ROUTINE, SYMBOL, LABEL)                                                                  \
    void SYMBOL(TRC_ARGUMENTS_##ROUTINE(TRC_FORTRAN), T* work, const Int* lwork MORE, Int* info)                                 \
    {                                                                                                                            \
        using Here = face::Faces<T>;                                                                                             \
        Index outcome = 0;                                                                                                       \
        const auto asked = Here::ROUTINE##_workspace(TRC_ARGUMENTS_##ROUTINE(TRC_READ), work, *lwork);                           \
        const int bad = asked.bad || asked.query ? asked.bad : Here::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_READ), outcome);        \
        face::lapack_result(LABEL, bad, outcome, info);                                                                          \
    }

/// An array of work whose length is not told.
#define TRC_SCRATCH_SYMBOL(ROUTINE, SYMBOL, LABEL)                                                                               \
    void SYMBOL(TRC_ARGUMENTS_##ROUTINE(TRC_FORTRAN), T*, Int* info)                                                             \
    {                                                                                                                            \
        Index outcome = 0;                                                                                                       \
        const int bad = face::Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_READ), outcome);                                     \
        face::lapack_result(LABEL, bad, outcome, info);                                                                          \
    }
/// Nobody looks at the arguments, and larfb has work and its leading dimension behind them.
#define TRC_REFLECTOR_SYMBOL(ROUTINE, SYMBOL, LABEL)                                                                             \
    void SYMBOL(TRC_ARGUMENTS_##ROUTINE(TRC_FORTRAN) TRC_WORK_OF_##ROUTINE)                                                      \
    {                                                                                                                            \
        face::Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_READ));                                                              \
    }
#define TRC_WORK_OF_larft
#define TRC_WORK_OF_larfb , T*, const Int*

// A routine under all its names: p is its precision's letter.
#define TRC_ALIAS(NAME, OF) decltype(OF) NAME __attribute__((alias(#OF)));
#define TRC_NARROW(DEFINE, ROUTINE, NAME) DEFINE(ROUTINE, NAME##_, #NAME) TRC_ALIAS(scipy_##NAME##_, NAME##_)
#define TRC_WIDE(DEFINE, ROUTINE, NAME)                                                                                          \
    DEFINE(ROUTINE, NAME##_64_, #NAME)                                                                                           \
    TRC_ALIAS(NAME##_64, NAME##_64_)                                                                                             \
    TRC_ALIAS(scipy_##NAME##_64_, NAME##_64_)
#define TRC_NARROW_BLAS(ROUTINE, p) TRC_NARROW(TRC_BLAS_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_NARROW_LAPACK(ROUTINE, p) TRC_NARROW(TRC_LAPACK_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_BLAS(ROUTINE, p) TRC_WIDE(TRC_BLAS_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_LAPACK(ROUTINE, p) TRC_WIDE(TRC_LAPACK_SYMBOL, ROUTINE, p##ROUTINE)

#define TRC_NARROW_WORKING(ROUTINE, p) TRC_NARROW(TRC_WORKING_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_WORKING(ROUTINE, p) TRC_WIDE(TRC_WORKING_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_NARROW_NORM(FUNCTION, p) TRC_NARROW(TRC_NORM_SYMBOL, FUNCTION, p##FUNCTION)
#define TRC_WIDE_NORM(FUNCTION, p) TRC_WIDE(TRC_NORM_SYMBOL, FUNCTION, p##FUNCTION)
#define TRC_NARROW_WORKSPACE(ROUTINE, p) TRC_NARROW(TRC_WORKSPACE_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_WORKSPACE(ROUTINE, p) TRC_WIDE(TRC_WORKSPACE_SYMBOL, ROUTINE, p##ROUTINE)

#define TRC_NARROW_PIVOTED_WORKSPACE(ROUTINE, p) TRC_NARROW_WORKSPACE(ROUTINE, p)
#define TRC_WIDE_PIVOTED_WORKSPACE(ROUTINE, p) TRC_WIDE_WORKSPACE(ROUTINE, p)
#define TRC_NARROW_PIVOTED_UNITARY(ROUTINE, p) TRC_NARROW(TRC_REAL_WORKSPACE_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_PIVOTED_UNITARY(ROUTINE, p) TRC_WIDE(TRC_REAL_WORKSPACE_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_NARROW_SCRATCH(ROUTINE, p) TRC_NARROW(TRC_SCRATCH_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_SCRATCH(ROUTINE, p) TRC_WIDE(TRC_SCRATCH_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_NARROW_REFLECTORS(ROUTINE, p) TRC_NARROW(TRC_REFLECTOR_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_WIDE_REFLECTORS(ROUTINE, p) TRC_WIDE(TRC_REFLECTOR_SYMBOL, ROUTINE, p##ROUTINE)
#define TRC_NARROW_UNITARY(NAME, ROUTINE, p) TRC_NARROW(TRC_WORKSPACE_SYMBOL, ROUTINE, p##NAME)
#define TRC_WIDE_UNITARY(NAME, ROUTINE, p) TRC_WIDE(TRC_WORKSPACE_SYMBOL, ROUTINE, p##NAME)

#define TRC_SYMBOLS(p, SCALAR, INT, WIDTH, BLAS_LIST, NORM_LIST, Q_LIST, Q_KIND)                                                 \
    namespace symbols::p {                                                                                                       \
    using T = SCALAR;                                                                                                            \
    namespace INT {                                                                                                              \
    using Int = std::INT;                                                                                                        \
    extern "C" {                                                                                                                 \
    BLAS_LIST(TRC_##WIDTH##_BLAS, p)                                                                                             \
    TRC_PLAIN_ROUTINES(TRC_##WIDTH##_LAPACK, p)                                                                                  \
    TRC_SCRATCH_ROUTINES(TRC_##WIDTH##_SCRATCH, p)                                                                               \
    TRC_WORKSPACE_ROUTINES(TRC_##WIDTH##_WORKSPACE, p)                                                                           \
    TRC_PIVOTED_ROUTINES(TRC_##WIDTH##_PIVOTED_##Q_KIND, p)                                                                      \
    Q_LIST(TRC_##WIDTH##_##Q_KIND, p)                                                                                            \
    TRC_REFLECTOR_ROUTINES(TRC_##WIDTH##_REFLECTORS, p)                                                                          \
    TRC_SCALING_ROUTINES(TRC_##WIDTH##_LAPACK, p)                                                                                \
    TRC_CONDITION_ROUTINES(TRC_##WIDTH##_WORKING, p)                                                                             \
    TRC_EXPERT_ROUTINES(TRC_##WIDTH##_WORKING, p)                                                                                \
    NORM_LIST(TRC_##WIDTH##_NORM, p)                                                                                             \
    }                                                                                                                            \
    }                                                                                                                            \
    }

TRC_SYMBOLS(s, float, int32_t, NARROW, TRC_REAL_BLAS_ROUTINES, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, WORKSPACE)
TRC_SYMBOLS(d, double, int32_t, NARROW, TRC_REAL_BLAS_ROUTINES, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, WORKSPACE)
TRC_SYMBOLS(c, std::complex<float>, int32_t, NARROW, TRC_BLAS_ROUTINES, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES, UNITARY)
TRC_SYMBOLS(z, std::complex<double>, int32_t, NARROW, TRC_BLAS_ROUTINES, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES, UNITARY)
TRC_SYMBOLS(s, float, int64_t, WIDE, TRC_REAL_BLAS_ROUTINES, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, WORKSPACE)
TRC_SYMBOLS(d, double, int64_t, WIDE, TRC_REAL_BLAS_ROUTINES, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, WORKSPACE)
TRC_SYMBOLS(c, std::complex<float>, int64_t, WIDE, TRC_BLAS_ROUTINES, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES, UNITARY)
TRC_SYMBOLS(z, std::complex<double>, int64_t, WIDE, TRC_BLAS_ROUTINES, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES, UNITARY)
