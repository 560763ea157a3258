#include "base/types.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/lapack/faces.hpp"
#include "interfaces/lapack/laid.hpp"
#include "interfaces/lapack/lapacke_arguments.hpp"
#include "interfaces/lapack/mixed.hpp"
#include "interfaces/lapack/precision.hpp"
#include "interfaces/lapack/xerbla.hpp"

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <new>
#include <type_traits>

// LAPACKE's symbols, with 32-bit integers as LAPACKE_dgetrf and with 64-bit ones as LAPACKE_dgetrf_64 and LAPACKE_dgetrf64_;
// those called
// ..._work as well, which do not look for NaNs. Matrices by rows are transposed into memory of their own and back, as LAPACKE
// does.

namespace trencadis {

/// Signatures ask letters for the sizes of matrices; here they are as the caller gave them.
template <class E>
    requires std::is_enum_v<E>
bool operator==(char given, E meant) { return Letter<E>(given) == meant; }

} // namespace trencadis

namespace trencadis::face {
namespace {

constexpr Index no_memory_for_work = -1010;     // LAPACK_WORK_MEMORY_ERROR
constexpr Index no_memory_to_transpose = -1011; // LAPACK_TRANSPOSE_MEMORY_ERROR

/// What the routines that take no arrays of work give to those that do.
template <class V> std::unique_ptr<V[]> work_of(Index count)
{
    std::unique_ptr<V[]> work(new (std::nothrow) V[std::size_t(std::max<Index>(1, count))]);
    if (!work) throw NoMemoryForWork();
    return work;
}

/// LAPACKE looks for NaNs unless the program said LAPACKE_set_nancheck(0), or the environment LAPACKE_NANCHECK=0.
bool looks_for_nans()
{
    static int (*const asked)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "LAPACKE_get_nancheck"));
    if (asked) return asked() != 0;
    static const bool looks = [] {
        const char* const said = std::getenv("LAPACKE_NANCHECK");
        return !said || std::atoi(said) != 0;
    }();
    return looks;
}

/// The arguments of one call as it is looked at: the layout is the first, so that all others come one later than LAPACK's.
struct Look {
    bool nans;
    bool unit = false; ///< the diagonal of a triangle is not read
    int number = 2, short_row = 0, nan = 0;

    void at(int) { ++number; }
    /// Some that are looked at where they are used.
    template <class R> struct Numbers {
        const R* data;
        Index count;
        bool used;
    };
    template <class R> void at(const Numbers<R>& numbers)
    {
        for (Index i = 0; numbers.used && nans && !nan && i < numbers.count; ++i)
            if (numbers.data[i] != numbers.data[i]) nan = number;
        ++number;
    }
    /// A matrix whose elements are looked at where it is given.
    template <class T> struct Given {
        const Laid<T>& A;
        bool given;
    };
    template <class T> void at(const Given<T>& given)
    {
        const bool all = nans;
        nans = all && given.given;
        at(given.A);
        nans = all;
    }
    template <std::floating_point R> void at(R value)
    {
        if (!nan && nans && value != value) nan = number;
        ++number;
    }
    /// LAPACK refuses bad letters before anything else.
    template <class E> void at(const Letter<E>& letter)
    {
        nans = nans && letter.valid();
        if constexpr (std::is_same_v<E, Diag>) unit = letter == Diag::unit;
        ++number;
    }
    template <class T> void at(const Laid<T>& A)
    {
        if (!short_row && !A.fits()) short_row = number + 1;
        if (!nan && nans && A.fits() && A.has_nan(unit)) nan = number;
        number += 2;
    }
};
template <class... Arguments> Look look(bool nans, const Arguments&... arguments)
{
    Look seen{.nans = nans};
    (seen.at(arguments), ...);
    return seen;
}

/// Runs `call(info)` on what has been looked at; LAPACKE's answer.
template <class Call> Index answer(const char* name, const char* routine, const Look& seen, const Call& call)
{
    if (seen.short_row) return bad_lapacke_argument(name, -seen.short_row);
    if (seen.nan) return -seen.nan; // without a word, as LAPACKE
    Index info = 0;
    const int bad = call(info);
    if (!bad) return info < 0 && info > -1000 ? info - 1 : info; // an argument that is only found out to be bad, as gecon's norm
    bad_fortran_argument(routine, bad);
    return -bad - 1;
}

/// The value of a function of a matrix, or LAPACKE's complaint in its place.
template <class Call> auto value(const char* name, const Look& seen, const Call& call)
{
    using R = decltype(call());
    if (seen.short_row) return R(bad_lapacke_argument(name, -seen.short_row));
    return seen.nan ? R(-seen.nan) : call();
}

template <class Call> auto with_layout(const char* name, int layout, const Call& call) -> decltype(call(true))
{
    using Result = decltype(call(true));
    if (layout != 101 && layout != 102) return Result(bad_lapacke_argument(name, -1));
    const TellsOfNoMemory tells;
    try {
        return call(layout == 101);
    } catch (const NoMemoryForWork&) {
        return Result(bad_lapacke_argument(name, no_memory_for_work));
    } catch (const std::bad_alloc&) {
        return Result(bad_lapacke_argument(name, no_memory_to_transpose));
    }
}

Region::Shape shape_of(char uplo) { return Letter<Uplo>(uplo) == Uplo::lower ? Region::Shape::lower : Region::Shape::upper; }

} // namespace
} // namespace trencadis::face

using namespace trencadis;
using namespace trencadis::face;

#define TRC_NOTHING
/// Arrays of work after the routine's own parameters, and what the face gets of them; or memory of its own.
#define TRC_WORK_ARRAYS , T *work, [[maybe_unused]] void *second
#define TRC_GIVEN_WORK , work
#define TRC_OWN_WORK , work_of<T>(4 * n).get()
#define TRC_SYMBOL(ROUTINE, SYMBOL, LABEL, NAME, NANS)                                                                           \
    TRC_SYMBOL_WITH(TRC_NOTHING, TRC_NOTHING, ROUTINE, SYMBOL, LABEL, NAME, NANS)
/// `MORE`: parameters after the routine's own; `WORK`: an argument of the face.
#define TRC_SYMBOL_WITH(MORE, WORK, ROUTINE, SYMBOL, LABEL, NAME, NANS)                                                          \
    Int SYMBOL(int layout, TRC_ARGUMENTS_##ROUTINE(TRC_E) MORE)                                                                  \
    {                                                                                                                            \
        return Int(with_layout(NAME, layout, [&](bool by_rows) {                                                                 \
            const auto call = [&](TRC_ARGUMENTS_##ROUTINE(TRC_LAID)) {                                                           \
                return answer(NAME, LABEL, look(NANS, TRC_ARGUMENTS_##ROUTINE(TRC_LOOK)),                                        \
                              [&](Index& info) { return Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_BARE) WORK, info); });     \
            };                                                                                                                   \
            return call(TRC_ARGUMENTS_##ROUTINE(TRC_LAY));                                                                       \
        }));                                                                                                                     \
    }
#define TRC_WORK_ARRAY , Real<T>*
/// Matrices by rows have a longer vector of sums than their callers know of.
#define TRC_NORM_SYMBOL(MORE, FUNCTION, SYMBOL, NAME, NANS)                                                                      \
    Real<T> SYMBOL(int layout, TRC_ARGUMENTS_##FUNCTION(TRC_E) MORE)                                                             \
    {                                                                                                                            \
        return with_layout(NAME, layout, [&](bool by_rows) {                                                                     \
            const auto call = [&](TRC_ARGUMENTS_##FUNCTION(TRC_LAID)) {                                                          \
                return value(NAME, look(NANS, TRC_ARGUMENTS_##FUNCTION(TRC_LOOK)), [&] {                                         \
                    const auto work = work_of<Real<T>>(A.rows());                                                                \
                    return Faces<T>::FUNCTION(TRC_ARGUMENTS_##FUNCTION(TRC_BARE), work.get());                                   \
                });                                                                                                              \
            };                                                                                                                   \
            return call(TRC_ARGUMENTS_##FUNCTION(TRC_LAY));                                                                      \
        });                                                                                                                      \
    }
/// LAPACK's own have no info.
#define TRC_REFLECTOR_SYMBOL(MORE, ROUTINE, SYMBOL, NAME)                                                                        \
    Int SYMBOL(int layout, TRC_ARGUMENTS_##ROUTINE(TRC_E) MORE)                                                                  \
    {                                                                                                                            \
        return Int(with_layout(NAME, layout, [&](bool by_rows) {                                                                 \
            const auto call = [&](TRC_ARGUMENTS_##ROUTINE(TRC_LAID)) {                                                           \
                const auto run = [&] { return Index(0 * Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_BARE))); };                \
                return value(NAME, look(false, TRC_ARGUMENTS_##ROUTINE(TRC_LOOK)), run);                                         \
            };                                                                                                                   \
            return call(TRC_ARGUMENTS_##ROUTINE(TRC_LAY));                                                                       \
        }));                                                                                                                     \
    }
#define TRC_WORK_OF_larft
#define TRC_WORK_OF_larfb , T*, Int
#define TRC_SCRATCH_ARRAY , T*
/// The work routines of those with a workspace.
#define TRC_REALS , Real<T>*
#define TRC_WORKSPACE_SYMBOL(ROUTINE, SYMBOL, LABEL, NAME) TRC_WORKSPACE_SYMBOL_WITH(TRC_NOTHING, ROUTINE, SYMBOL, LABEL, NAME)
#define TRC_WORKSPACE_SYMBOL_WITH(MORE, ROUTINE, SYMBOL, LABEL, NAME)                                                            \
    Int SYMBOL(int layout, TRC_ARGUMENTS_##ROUTINE(TRC_E), T* work, Int lwork MORE)                                              \
    {                                                                                                                            \
        if (lwork == -1 && layout == 101) /* no matrix is laid out for it */                                                     \
            return *work = answered_size<T>(TRC_LEAST_WORK_##ROUTINE), Int(0);                                                   \
        return Int(with_layout(NAME, layout, [&](bool by_rows) {                                                                 \
            const auto call = [&](TRC_ARGUMENTS_##ROUTINE(TRC_LAID)) {                                                           \
                return answer(NAME, LABEL, look(false, TRC_ARGUMENTS_##ROUTINE(TRC_LOOK)), [&](Index& info) {                    \
                    const auto asked = Faces<T>::ROUTINE##_workspace(TRC_ARGUMENTS_##ROUTINE(TRC_BARE), work, lwork);            \
                    if (asked.bad || asked.query) return asked.bad;                                                              \
                    return Faces<T>::ROUTINE(TRC_ARGUMENTS_##ROUTINE(TRC_BARE), info);                                           \
                });                                                                                                              \
            };                                                                                                                   \
            return call(TRC_ARGUMENTS_##ROUTINE(TRC_LAY));                                                                       \
        }));                                                                                                                     \
    }
#define TRC_NARROW_UNITARY(NAME, ROUTINE, p)                                                                                     \
    TRC_SYMBOL(ROUTINE, LAPACKE_##p##NAME, #p #NAME, "LAPACKE_" #p #NAME, looks_for_nans())
#define TRC_NARROW_UNITARY_WORK(NAME, ROUTINE, p)                                                                                \
    TRC_WORKSPACE_SYMBOL(ROUTINE, LAPACKE_##p##NAME##_work, #p #NAME, "LAPACKE_" #p #NAME "_work")
#define TRC_WIDE_UNITARY(NAME, ROUTINE, p)                                                                                       \
    TRC_SYMBOL(ROUTINE, LAPACKE_##p##NAME##_64, #p #NAME, "LAPACKE_" #p #NAME, looks_for_nans())                                 \
    TRC_ALIAS(LAPACKE_##p##NAME##64_, LAPACKE_##p##NAME##_64)
#define TRC_WIDE_UNITARY_WORK(NAME, ROUTINE, p)                                                                                  \
    TRC_WORKSPACE_SYMBOL(ROUTINE, LAPACKE_##p##NAME##_work_64, #p #NAME, "LAPACKE_" #p #NAME "_work")                            \
    TRC_ALIAS(LAPACKE_##p##NAME##_work64_, LAPACKE_##p##NAME##_work_64)
#define TRC_NARROW_PIVOTED_WORKSPACE(ROUTINE, p) TRC_NARROW_WORKSPACE(ROUTINE, p)
#define TRC_WIDE_PIVOTED_WORKSPACE(ROUTINE, p) TRC_WIDE_WORKSPACE(ROUTINE, p)
#define TRC_NARROW_PIVOTED_UNITARY_WORK(ROUTINE, p)                                                                              \
    TRC_WORKSPACE_SYMBOL_WITH(TRC_REALS, ROUTINE, LAPACKE_##p##ROUTINE##_work, #p #ROUTINE, "LAPACKE_" #p #ROUTINE "_work")
#define TRC_WIDE_PIVOTED_UNITARY_WORK(ROUTINE, p)                                                                                \
    TRC_WORKSPACE_SYMBOL_WITH(TRC_REALS, ROUTINE, LAPACKE_##p##ROUTINE##_work_64, #p #ROUTINE, "LAPACKE_" #p #ROUTINE "_work")   \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##_work64_, LAPACKE_##p##ROUTINE##_work_64)
#define TRC_NARROW_SCRATCH_WORK(ROUTINE, p)                                                                                      \
    TRC_SYMBOL_WITH(TRC_SCRATCH_ARRAY, TRC_NOTHING, ROUTINE, LAPACKE_##p##ROUTINE##_work, #p #ROUTINE,                           \
                    "LAPACKE_" #p #ROUTINE "_work", false)
#define TRC_WIDE_SCRATCH_WORK(ROUTINE, p)                                                                                        \
    TRC_SYMBOL_WITH(TRC_SCRATCH_ARRAY, TRC_NOTHING, ROUTINE, LAPACKE_##p##ROUTINE##_work_64, #p #ROUTINE,                        \
                    "LAPACKE_" #p #ROUTINE "_work", false)                                                                       \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##_work64_, LAPACKE_##p##ROUTINE##_work_64)
#define TRC_NARROW_REFLECTORS(ROUTINE, p)                                                                                        \
    TRC_REFLECTOR_SYMBOL(TRC_NOTHING, ROUTINE, LAPACKE_##p##ROUTINE, "LAPACKE_" #p #ROUTINE)                                     \
    TRC_REFLECTOR_SYMBOL(TRC_WORK_OF_##ROUTINE, ROUTINE, LAPACKE_##p##ROUTINE##_work, "LAPACKE_" #p #ROUTINE "_work")
#define TRC_WIDE_REFLECTORS(ROUTINE, p)                                                                                          \
    TRC_REFLECTOR_SYMBOL(TRC_NOTHING, ROUTINE, LAPACKE_##p##ROUTINE##_64, "LAPACKE_" #p #ROUTINE)                                \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##64_, LAPACKE_##p##ROUTINE##_64)                                                              \
    TRC_REFLECTOR_SYMBOL(TRC_WORK_OF_##ROUTINE, ROUTINE, LAPACKE_##p##ROUTINE##_work_64, "LAPACKE_" #p #ROUTINE "_work")         \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##_work64_, LAPACKE_##p##ROUTINE##_work_64)
#define TRC_ALIAS(NAME, OF) decltype(OF) NAME __attribute__((alias(#OF)));
#define TRC_NARROW(ROUTINE, p) TRC_SYMBOL(ROUTINE, LAPACKE_##p##ROUTINE, #p #ROUTINE, "LAPACKE_" #p #ROUTINE, looks_for_nans())
#define TRC_NARROW_WORK(ROUTINE, p)                                                                                              \
    TRC_SYMBOL(ROUTINE, LAPACKE_##p##ROUTINE##_work, #p #ROUTINE, "LAPACKE_" #p #ROUTINE "_work", false)
#define TRC_NARROW_WORKSPACE(ROUTINE, p)                                                                                         \
    TRC_WORKSPACE_SYMBOL(ROUTINE, LAPACKE_##p##ROUTINE##_work, #p #ROUTINE, "LAPACKE_" #p #ROUTINE "_work")
#define TRC_NARROW_WORKING(ROUTINE, p)                                                                                           \
    TRC_SYMBOL_WITH(TRC_NOTHING, TRC_OWN_WORK, ROUTINE, LAPACKE_##p##ROUTINE, #p #ROUTINE, "LAPACKE_" #p #ROUTINE,               \
                    looks_for_nans())
#define TRC_NARROW_GIVEN(ROUTINE, p)                                                                                             \
    TRC_SYMBOL_WITH(TRC_WORK_ARRAYS, TRC_GIVEN_WORK, ROUTINE, LAPACKE_##p##ROUTINE##_work, #p #ROUTINE,                          \
                    "LAPACKE_" #p #ROUTINE "_work", false)
#define TRC_NARROW_NORM(FUNCTION, p)                                                                                             \
    TRC_NORM_SYMBOL(TRC_NOTHING, FUNCTION, LAPACKE_##p##FUNCTION, "LAPACKE_" #p #FUNCTION, looks_for_nans())                     \
    TRC_NORM_SYMBOL(TRC_WORK_ARRAY, FUNCTION, LAPACKE_##p##FUNCTION##_work, "LAPACKE_" #p #FUNCTION "_work", false)
#define TRC_WIDE(ROUTINE, p)                                                                                                     \
    TRC_SYMBOL(ROUTINE, LAPACKE_##p##ROUTINE##_64, #p #ROUTINE, "LAPACKE_" #p #ROUTINE, looks_for_nans())                        \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##64_, LAPACKE_##p##ROUTINE##_64)
#define TRC_WIDE_WORK(ROUTINE, p)                                                                                                \
    TRC_SYMBOL(ROUTINE, LAPACKE_##p##ROUTINE##_work_64, #p #ROUTINE, "LAPACKE_" #p #ROUTINE "_work", false)                      \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##_work64_, LAPACKE_##p##ROUTINE##_work_64)
#define TRC_WIDE_WORKSPACE(ROUTINE, p)                                                                                           \
    TRC_WORKSPACE_SYMBOL(ROUTINE, LAPACKE_##p##ROUTINE##_work_64, #p #ROUTINE, "LAPACKE_" #p #ROUTINE "_work")                   \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##_work64_, LAPACKE_##p##ROUTINE##_work_64)

#define TRC_WIDE_WORKING(ROUTINE, p)                                                                                             \
    TRC_SYMBOL_WITH(TRC_NOTHING, TRC_OWN_WORK, ROUTINE, LAPACKE_##p##ROUTINE##_64, #p #ROUTINE, "LAPACKE_" #p #ROUTINE,          \
                    looks_for_nans())                                                                                            \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##64_, LAPACKE_##p##ROUTINE##_64)
#define TRC_WIDE_GIVEN(ROUTINE, p)                                                                                               \
    TRC_SYMBOL_WITH(TRC_WORK_ARRAYS, TRC_GIVEN_WORK, ROUTINE, LAPACKE_##p##ROUTINE##_work_64, #p #ROUTINE,                       \
                    "LAPACKE_" #p #ROUTINE "_work", false)                                                                       \
    TRC_ALIAS(LAPACKE_##p##ROUTINE##_work64_, LAPACKE_##p##ROUTINE##_work_64)
#define TRC_WIDE_NORM(FUNCTION, p)                                                                                               \
    TRC_NORM_SYMBOL(TRC_NOTHING, FUNCTION, LAPACKE_##p##FUNCTION##_64, "LAPACKE_" #p #FUNCTION, looks_for_nans())                \
    TRC_ALIAS(LAPACKE_##p##FUNCTION##64_, LAPACKE_##p##FUNCTION##_64)                                                            \
    TRC_NORM_SYMBOL(TRC_WORK_ARRAY, FUNCTION, LAPACKE_##p##FUNCTION##_work_64, "LAPACKE_" #p #FUNCTION "_work", false)           \
    TRC_ALIAS(LAPACKE_##p##FUNCTION##_work64_, LAPACKE_##p##FUNCTION##_work_64)

// The last lists: of the real precisions, or of the complex ones.
#define TRC_SYMBOLS(p, SCALAR, NORM_LIST, Q_LIST, Q_KIND, Q_WORK)                                                                \
    namespace symbols::p {                                                                                                       \
    using T = SCALAR;                                                                                                            \
    namespace narrow {                                                                                                           \
    using Int = std::int32_t;                                                                                                    \
    extern "C" {                                                                                                                 \
    TRC_PLAIN_ROUTINES(TRC_NARROW, p)                                                                                            \
    TRC_SCRATCH_ROUTINES(TRC_NARROW, p)                                                                                          \
    TRC_WORKSPACE_ROUTINES(TRC_NARROW, p)                                                                                        \
    TRC_SCALING_ROUTINES(TRC_NARROW, p)                                                                                          \
    TRC_CONDITION_ROUTINES(TRC_NARROW_WORKING, p)                                                                                \
    TRC_EXPERT_ROUTINES(TRC_NARROW_WORKING, p)                                                                                   \
    TRC_PIVOTED_ROUTINES(TRC_NARROW, p)                                                                                          \
    TRC_PIVOTED_ROUTINES(TRC_NARROW_PIVOTED##Q_WORK, p)                                                                          \
    Q_LIST(TRC_NARROW##Q_KIND, p)                                                                                                \
    Q_LIST(TRC_NARROW##Q_WORK, p)                                                                                                \
    TRC_SCRATCH_ROUTINES(TRC_NARROW_SCRATCH_WORK, p)                                                                             \
    TRC_REFLECTOR_ROUTINES(TRC_NARROW_REFLECTORS, p)                                                                             \
    TRC_PLAIN_ROUTINES(TRC_NARROW_WORK, p)                                                                                       \
    TRC_SCALING_ROUTINES(TRC_NARROW_WORK, p)                                                                                     \
    TRC_CONDITION_ROUTINES(TRC_NARROW_GIVEN, p)                                                                                  \
    NORM_LIST(TRC_NARROW_NORM, p)                                                                                                \
    TRC_WORKSPACE_ROUTINES(TRC_NARROW_WORKSPACE, p)                                                                              \
    }                                                                                                                            \
    }                                                                                                                            \
    namespace wide {                                                                                                             \
    using Int = std::int64_t;                                                                                                    \
    extern "C" {                                                                                                                 \
    TRC_PLAIN_ROUTINES(TRC_WIDE, p)                                                                                              \
    TRC_SCRATCH_ROUTINES(TRC_WIDE, p)                                                                                            \
    TRC_WORKSPACE_ROUTINES(TRC_WIDE, p)                                                                                          \
    TRC_SCALING_ROUTINES(TRC_WIDE, p)                                                                                            \
    TRC_CONDITION_ROUTINES(TRC_WIDE_WORKING, p)                                                                                  \
    TRC_EXPERT_ROUTINES(TRC_WIDE_WORKING, p)                                                                                     \
    TRC_PIVOTED_ROUTINES(TRC_WIDE, p)                                                                                            \
    TRC_PIVOTED_ROUTINES(TRC_WIDE_PIVOTED##Q_WORK, p)                                                                            \
    Q_LIST(TRC_WIDE##Q_KIND, p)                                                                                                  \
    Q_LIST(TRC_WIDE##Q_WORK, p)                                                                                                  \
    TRC_SCRATCH_ROUTINES(TRC_WIDE_SCRATCH_WORK, p)                                                                               \
    TRC_REFLECTOR_ROUTINES(TRC_WIDE_REFLECTORS, p)                                                                               \
    TRC_PLAIN_ROUTINES(TRC_WIDE_WORK, p)                                                                                         \
    TRC_SCALING_ROUTINES(TRC_WIDE_WORK, p)                                                                                       \
    TRC_CONDITION_ROUTINES(TRC_WIDE_GIVEN, p)                                                                                    \
    NORM_LIST(TRC_WIDE_NORM, p)                                                                                                  \
    TRC_WORKSPACE_ROUTINES(TRC_WIDE_WORKSPACE, p)                                                                                \
    }                                                                                                                            \
    }                                                                                                                            \
    }

TRC_SYMBOLS(s, float, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, , _WORKSPACE)
TRC_SYMBOLS(d, double, TRC_REAL_NORM_ROUTINES, TRC_ORTHOGONAL_ROUTINES, , _WORKSPACE)
TRC_SYMBOLS(c, std::complex<float>, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES, _UNITARY, _UNITARY_WORK)
TRC_SYMBOLS(z, std::complex<double>, TRC_NORM_ROUTINES, TRC_UNITARY_NAMES, _UNITARY, _UNITARY_WORK)

// The work routines of these answer the growth of gesvx in their work.
#undef TRC_E_GROWTH
#undef TRC_LAY_GROWTH
#define TRC_E_GROWTH(x)
#define TRC_LAY_GROWTH(x) , first_real(work, second)
#define TRC_EXPERT_WORK_SYMBOLS(p)                                                                                               \
    namespace symbols::p {                                                                                                       \
    namespace narrow {                                                                                                           \
    extern "C" {                                                                                                                 \
    TRC_EXPERT_ROUTINES(TRC_NARROW_GIVEN, p)                                                                                     \
    }                                                                                                                            \
    }                                                                                                                            \
    namespace wide {                                                                                                             \
    extern "C" {                                                                                                                 \
    TRC_EXPERT_ROUTINES(TRC_WIDE_GIVEN, p)                                                                                       \
    }                                                                                                                            \
    }                                                                                                                            \
    }
TRC_EXPERT_WORK_SYMBOLS(s)
TRC_EXPERT_WORK_SYMBOLS(d)
TRC_EXPERT_WORK_SYMBOLS(c)
TRC_EXPERT_WORK_SYMBOLS(z)

// The routines in mixed precision: `WORK` are the arrays that their work routines take, which are not used.
#define TRC_MIXED_GESV(SYMBOL, NAME, LABEL, NANS, T, Int, WORK)                                                                  \
    Int SYMBOL(int layout, Int n, Int nrhs, T* a, Int lda, Int* ipiv, const T* b, Int ldb, T* x, Int ldx WORK(), Int* iter)      \
    {                                                                                                                            \
        return Int(with_layout(NAME, layout, [&](bool by_rows) {                                                                 \
            const Laid<T> A(a, lda, n, n, by_rows), X(x, ldx, n, nrhs, by_rows);                                                 \
            const Laid<const T> B(b, ldb, n, nrhs, by_rows);                                                                     \
            return answer(NAME, LABEL, look(NANS, 0, 0, A, 0, B, Look::Given<T>{X, false}), [&](Index& info) {                   \
                int steps;                                                                                                       \
                const int bad = gesv_in_mixed_precision<T>(LABEL, n, nrhs, A.data(), A.leading(), ipiv, B.data(), B.leading(),   \
                                                           X.data(), X.leading(), steps, info);                                  \
                return *iter = Int(steps), bad;                                                                                  \
            });                                                                                                                  \
        }));                                                                                                                     \
    }
#define TRC_MIXED_POSV(SYMBOL, NAME, LABEL, NANS, T, Int, WORK)                                                                  \
    Int SYMBOL(int layout, char uplo, Int n, Int nrhs, T* a, Int lda, const T* b, Int ldb, T* x, Int ldx WORK(), Int* iter)      \
    {                                                                                                                            \
        return Int(with_layout(NAME, layout, [&](bool by_rows) {                                                                 \
            const Laid<T> A(a, lda, n, n, by_rows, shape_of(uplo)), X(x, ldx, n, nrhs, by_rows);                                 \
            const Laid<const T> B(b, ldb, n, nrhs, by_rows);                                                                     \
            return answer(NAME, LABEL, look(NANS, Letter<Uplo>(uplo), 0, 0, A, B, Look::Given<T>{X, false}), [&](Index& info) {  \
                int steps;                                                                                                       \
                const int bad = posv_in_mixed_precision<T>(LABEL, uplo, n, nrhs, A.data(), A.leading(), B.data(), B.leading(),   \
                                                           X.data(), X.leading(), steps, info);                                  \
                return *iter = Int(steps), bad;                                                                                  \
            });                                                                                                                  \
        }));                                                                                                                     \
    }
#define TRC_MIXED_FAMILY(DEFINE, r, T, Int, SUFFIX, WORK)                                                                        \
    DEFINE(LAPACKE_##r##SUFFIX, "LAPACKE_" #r, #r, looks_for_nans(), T, Int, TRC_NO_ARRAYS)                                      \
    DEFINE(LAPACKE_##r##_work##SUFFIX, "LAPACKE_" #r "_work", #r, false, T, Int, WORK)
#define TRC_MIXED(DEFINE, r, T, WORK)                                                                                            \
    TRC_MIXED_FAMILY(DEFINE, r, T, std::int32_t, , WORK)                                                                         \
    TRC_MIXED_FAMILY(DEFINE, r, T, std::int64_t, _64, WORK)                                                                      \
    TRC_ALIAS(LAPACKE_##r##64_, LAPACKE_##r##_64)                                                                                \
    TRC_ALIAS(LAPACKE_##r##_work64_, LAPACKE_##r##_work_64)
#define TRC_NO_ARRAYS()
#define TRC_NUMBERS() , void*, void*
#define TRC_NUMBERS_AND_REALS() , void*, void*, double*

extern "C" {

TRC_MIXED(TRC_MIXED_GESV, dsgesv, double, TRC_NUMBERS)
TRC_MIXED(TRC_MIXED_POSV, dsposv, double, TRC_NUMBERS)
TRC_MIXED(TRC_MIXED_GESV, zcgesv, std::complex<double>, TRC_NUMBERS_AND_REALS)
TRC_MIXED(TRC_MIXED_POSV, zcposv, std::complex<double>, TRC_NUMBERS_AND_REALS)

} // extern "C"
