#include "estimates/condition.hpp"

#include "base/float_modes.hpp"
#include "estimates/inverse_norm.hpp"
#include "estimates/norms.hpp"
#include "estimates/safe_solve.hpp"

#include <cmath>
#include <limits>

namespace trencadis::estimates {
namespace {

/// |A^-1|, of which solve(x, op) gives the products with a vector; infinity where one of them is beyond the numbers.
template <Scalar T, class Solve> Real<T> norm_of_inverse(Norm norm, Index n, const Solve& solve, T* attained = nullptr)
{
    const bool rows = norm == Norm::inf; // the columns of the adjoint
    const auto product = [&](T* x, bool adjoint) { return solve(x, adjoint != rows ? herm_op<T> : Op::none); };
    return norm1_by_products<T>(n, product, attained);
}

} // namespace

template <Scalar T> Index gecon(Norm norm, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond, T* attained)
{
    const FloatScope nothing_traps(FloatModes::current()); // what overflows is solved again
    constexpr Index no_norm = -5;
    *rcond = n == 0 ? 1 : std::isnan(anorm) ? anorm : 0;
    if (n == 0 || anorm == 0) return 0;
    if (!std::isfinite(anorm)) return no_norm;
    SafeSolve<T> solve(n);
    const auto factors = [&](T* x, Op op) {
        const Triangle<T> L{Uplo::lower, op, Diag::unit, n, A, lda}, U{Uplo::upper, op, Diag::non_unit, n, A, lda};
        return op == Op::none ? solve(x, {L, U}) : solve(x, {U, L});
    };
    const Real<T> inverse = norm_of_inverse<T>(norm, n, factors, attained);
    if (inverse == 0) return 1;
    *rcond = 1 / inverse / anorm;
    return std::isfinite(*rcond) ? 0 : 1;
}

template <Scalar T> Index pocon(Uplo uplo, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond)
{
    const FloatScope nothing_traps(FloatModes::current()); // what overflows is solved again
    *rcond = n == 0 ? 1 : 0;
    if (n == 0 || anorm == 0) return 0;
    SafeSolve<T> solve(n);
    const Op first = uplo == Uplo::lower ? Op::none : herm_op<T>, second = uplo == Uplo::lower ? herm_op<T> : Op::none;
    const auto factors = [&](T* x, Op) {
        return solve(x, {{uplo, first, Diag::non_unit, n, A, lda}, {uplo, second, Diag::non_unit, n, A, lda}});
    };
    const Real<T> inverse = norm_of_inverse<T>(Norm::one, n, factors);
    if (inverse != 0) *rcond = 1 / inverse / anorm;
    return 0;
}

template <Scalar T> Index trcon(Norm norm, Uplo uplo, Diag diag, Index n, const T* A, Index lda, Real<T>* rcond)
{
    const FloatScope nothing_traps(FloatModes::current()); // what overflows is solved again
    *rcond = n == 0 ? 1 : 0;
    if (n == 0) return 0;
    const Real<T> anorm = estimates::norm(norm, Measured<T>::triangular(uplo, diag, n, n, A, lda));
    if (!(anorm > 0)) return 0;
    SafeSolve<T> solve(n);
    const Real<T> inverse = norm_of_inverse<T>(norm, n, [&](T* x, Op op) { return solve(x, {{uplo, op, diag, n, A, lda}}); });
    if (inverse != 0 && std::isfinite(inverse)) *rcond = 1 / anorm / inverse;
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index gecon(Norm, Index, const T*, Index, Real<T>, Real<T>*, T*);                                                   \
    template Index pocon(Uplo, Index, const T*, Index, Real<T>, Real<T>*);                                                       \
    template Index trcon(Norm, Uplo, Diag, Index, const T*, Index, Real<T>*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::estimates
