#include "estimates/condition.hpp"

#include "base/float_modes.hpp"
#include "estimates/inverse_norm.hpp"
#include "estimates/norms.hpp"
#include "estimates/room.hpp"
#include "estimates/safe_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis::estimates {
namespace {

/// |A^-1|, of which solve(x, op) gives the products with a vector; infinity where one of them is beyond the numbers.
template <Scalar T, class Solve> Real<T> norm_of_inverse(Norm norm, Index n, const Solve& solve, T* room, T* attained = nullptr)
{
    const bool rows = norm == Norm::inf; // the columns of the adjoint
    const auto product = [&](T* x, bool adjoint) { return solve(x, adjoint != rows ? herm_op<T> : Op::none); };
    return norm1_by_products<T>(n, product, room, attained);
}

} // namespace

template <Scalar T> Index gecon(Norm norm, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond, T* work)
{
    const FloatScope nothing_traps(FloatModes::current()); // what overflows is solved again
    constexpr Index no_norm = -5;
    *rcond = n == 0 ? 1 : std::isnan(anorm) ? anorm : 0;
    if (n == 0 || anorm == 0) return 0;
    if (!std::isfinite(anorm)) return no_norm;
    constexpr Index most_attained = 8;
    T attained[most_attained] = {};
    Room<T> room(work, work_of<T>(n));
    SafeSolve<T> solve(n, room.data());
    const auto factors = [&](T* x, Op op) {
        const Triangle<T> L{Uplo::lower, op, Diag::unit, n, A, lda}, U{Uplo::upper, op, Diag::non_unit, n, A, lda};
        return op == Op::none ? solve(x, {L, U}) : solve(x, {U, L});
    };
    const bool wanted = work && n <= most_attained;
    const Real<T> inverse = norm_of_inverse<T>(norm, n, factors, room.data() + n, wanted ? attained : nullptr);
    if (wanted) std::copy_n(attained, n, work + n);
    if (inverse == 0) return 1;
    *rcond = 1 / inverse / anorm;
    return std::isfinite(*rcond) ? 0 : 1;
}

template <Scalar T> Index pocon(Uplo uplo, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond, T* work)
{
    const FloatScope nothing_traps(FloatModes::current()); // what overflows is solved again
    *rcond = n == 0 ? 1 : 0;
    if (n == 0 || anorm == 0) return 0;
    Room<T> room(work, work_of<T>(n));
    SafeSolve<T> solve(n, room.data());
    const Op first = uplo == Uplo::lower ? Op::none : herm_op<T>, second = uplo == Uplo::lower ? herm_op<T> : Op::none;
    const auto factors = [&](T* x, Op) {
        return solve(x, {{uplo, first, Diag::non_unit, n, A, lda}, {uplo, second, Diag::non_unit, n, A, lda}});
    };
    const Real<T> inverse = norm_of_inverse<T>(Norm::one, n, factors, room.data() + n);
    if (inverse != 0) *rcond = 1 / inverse / anorm;
    return 0;
}

template <Scalar T> Index trcon(Norm norm, Uplo uplo, Diag diag, Index n, const T* A, Index lda, Real<T>* rcond, T* work)
{
    const FloatScope nothing_traps(FloatModes::current()); // what overflows is solved again
    *rcond = n == 0 ? 1 : 0;
    if (n == 0) return 0;
    Room<T> room(work, work_of<T>(n));
    const Real<T> anorm =
        estimates::norm(norm, Measured<T>::triangular(uplo, diag, n, n, A, lda), reinterpret_cast<Real<T>*>(room.data()));
    if (!(anorm > 0)) return 0;
    SafeSolve<T> solve(n, room.data());
    const auto factor = [&](T* x, Op op) { return solve(x, {{uplo, op, diag, n, A, lda}}); };
    const Real<T> inverse = norm_of_inverse<T>(norm, n, factor, room.data() + n);
    if (inverse != 0 && std::isfinite(inverse)) *rcond = 1 / anorm / inverse;
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index gecon(Norm, Index, const T*, Index, Real<T>, Real<T>*, T*);                                                   \
    template Index pocon(Uplo, Index, const T*, Index, Real<T>, Real<T>*, T*);                                                   \
    template Index trcon(Norm, Uplo, Diag, Index, const T*, Index, Real<T>*, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::estimates
