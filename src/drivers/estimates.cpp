#include "algorithms/signatures.hpp"
#include "blas/factorizations/lu.hpp"
#include "drivers/alone.hpp"
#include "drivers/each.hpp"
#include "drivers/linear_algebra.hpp"
#include "estimates/condition.hpp"
#include "estimates/norms.hpp"
#include "estimates/refine.hpp"
#include "estimates/scalings.hpp"

#include <complex>

// What is said of a matrix in some n^2 operations. All but norms is for the calling thread: it is over before workers could help,
// or each step waits for the one before.

namespace trencadis {
namespace {

using namespace estimates;

/// By the crew where the matrix is so large that several cores read more of it than one.
template <Scalar T> Real<T> shared_norm(Crew& crew, Norm which, const Measured<T>& A)
{
    constexpr double elements_each = 1 << 17; // about 1 MB of doubles
    const double elements = A.empty() ? 0 : double(A.m) * double(A.n) / (A.mirrored ? 2 : 1);
    const Index count = std::min<Index>(Index(elements / elements_each), 4 * crew.workers());
    if (count < 2) return norm(which, A);
    return norm(which, A, count, [&](Index parts, const std::function<void(Index)>& part) {
        for_each_problem(crew, {}, parts, 2 * elements / double(parts), [&](const KernelProvider&, Index i) { part(i); });
    });
}

} // namespace

#define TRC_NORM(function, MATRIX)                                                                                               \
    template <Scalar T> Real<T> alone::function(TRC_ARGUMENTS_##function(TRC_TYPED), Real<T>* work)                              \
    {                                                                                                                            \
        return estimates::norm(norm, MATRIX, work);                                                                              \
    }                                                                                                                            \
    template <Scalar T> Real<T> function(Crew& crew, TRC_ARGUMENTS_##function(TRC_TYPED))                                        \
    {                                                                                                                            \
        const InCall call(crew);                                                                                                 \
        require(call, TRC_ARGUMENTS_##function(TRC_CHECK));                                                                      \
        return shared_norm(crew, norm, MATRIX);                                                                                  \
    }
TRC_NORM(lange, Measured<T>::general(m, n, A, lda))
TRC_NORM(lansy, Measured<T>::symmetric(uplo, n, A, lda))
TRC_NORM(lanhe, Measured<T>::hermitian(uplo, n, A, lda))
TRC_NORM(lantr, Measured<T>::triangular(uplo, diag, m, n, A, lda))

/// `CALL` returns LAPACK's info; `WORK`: what it has for that.
#define TRC_ESTIMATE(routine, WORK, CALL)                                                                                        \
    template <Scalar T> Index alone::routine(const KernelProvider&, TRC_ARGUMENTS_##routine(TRC_TYPED) WORK) { return CALL; }    \
    template <Scalar T> Index routine(Crew& crew, TRC_ARGUMENTS_##routine(TRC_TYPED))                                            \
    {                                                                                                                            \
        const InCall call(crew);                                                                                                 \
        require(call, TRC_ARGUMENTS_##routine(TRC_CHECK));                                                                       \
        return alone::routine(crew.kernels(), TRC_ARGUMENTS_##routine(TRC_GIVE));                                                \
    }
#define TRC_NO_WORK
#define TRC_WORK , T* work
TRC_ESTIMATE(gecon, TRC_WORK, estimates::gecon(norm, n, A, lda, anorm, rcond, work))
TRC_ESTIMATE(pocon, TRC_WORK, estimates::pocon(uplo, n, A, lda, anorm, rcond, work))
TRC_ESTIMATE(trcon, TRC_WORK, estimates::trcon(norm, uplo, diag, n, A, lda, rcond, work))
TRC_ESTIMATE(geequ, TRC_NO_WORK, estimates::geequ(Factors::exact, m, n, A, lda, r, c, rowcnd, colcnd, amax))
TRC_ESTIMATE(geequb, TRC_NO_WORK, estimates::geequ(Factors::powers, m, n, A, lda, r, c, rowcnd, colcnd, amax))
TRC_ESTIMATE(poequ, TRC_NO_WORK, estimates::poequ(Factors::exact, n, A, lda, s, scond, amax))
TRC_ESTIMATE(poequb, TRC_NO_WORK, estimates::poequ(Factors::powers, n, A, lda, s, scond, amax))
TRC_ESTIMATE(gerfs, TRC_WORK, (estimates::gerfs(op, n, nrhs, A, lda, AF, ldaf, ipiv, B, ldb, X, ldx, ferr, berr, work), 0))
TRC_ESTIMATE(porfs, TRC_WORK, (estimates::porfs(uplo, n, nrhs, A, lda, AF, ldaf, B, ldb, X, ldx, ferr, berr, work), 0))

// The signatures call the scalar T.
#define TRC_INSTANTIATE_NORM(function, ...)                                                                                      \
    template Real<T> alone::function(TRC_ARGUMENTS_##function(TRC_TYPED), Real<T>*);                                             \
    template Real<T> function(Crew&, TRC_ARGUMENTS_##function(TRC_TYPED));
#define TRC_INSTANTIATE_ESTIMATE(routine, ...)                                                                                   \
    template Index alone::routine(const KernelProvider&, TRC_ARGUMENTS_##routine(TRC_TYPED) __VA_ARGS__);                        \
    template Index routine(Crew&, TRC_ARGUMENTS_##routine(TRC_TYPED));
#define T float
TRC_NORM_ROUTINES(TRC_INSTANTIATE_NORM)
TRC_SCALING_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_NO_WORK)
TRC_CONDITION_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_WORK)
#undef T
#define T double
TRC_NORM_ROUTINES(TRC_INSTANTIATE_NORM)
TRC_SCALING_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_NO_WORK)
TRC_CONDITION_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_WORK)
#undef T
#define T std::complex<float>
TRC_NORM_ROUTINES(TRC_INSTANTIATE_NORM)
TRC_SCALING_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_NO_WORK)
TRC_CONDITION_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_WORK)
#undef T
#define T std::complex<double>
TRC_NORM_ROUTINES(TRC_INSTANTIATE_NORM)
TRC_SCALING_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_NO_WORK)
TRC_CONDITION_ROUTINES(TRC_INSTANTIATE_ESTIMATE, TRC_WORK)
#undef T

} // namespace trencadis
