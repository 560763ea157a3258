#include "blas/factorizations/qr.hpp"

#include "base/float_modes.hpp"
#include "blas/level3/control_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis::blas {
namespace {

/// Numbers whose inverse is finite with some room (LAPACK's xLAMCH('S') / xLAMCH('E')).
template <class R> constexpr R safe_least() { return std::numeric_limits<R>::min() / (std::numeric_limits<R>::epsilon() / 2); }

/// Sums of squares below this may have lost squares that count.
template <class R> constexpr R least_sum() { return std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(); }

template <class R> R largest_size(Index count, const R* x)
{
    R most = 0;
    for (Index i = 0; i < count; ++i) {
        const R size = std::abs(x[i]);
        if (!(size <= most)) most = size;
        if (std::isnan(size)) return size;
    }
    return most;
}

/// The root of the sum of squares of `count` real numbers. What overflows or vanishes on the way is no exception of the caller's.
template <class R> R norm_of(Index count, const R* x)
{
    const FloatScope trial(FloatModes::current());
    const auto squares = setup<R>().kernel.columns.squares;
    const R sum = squares(count, x, R(1));
    if (sum >= least_sum<R>() && sum <= std::numeric_limits<R>::max()) return std::sqrt(sum);
    const R most = largest_size(count, x);
    if (most == 0 || !std::isfinite(most)) return most;
    // Two powers of two, as the inverse of the least number is none.
    const int exponent = std::ilogb(most);
    const R up = std::ldexp(R(1), -exponent / 2), rest = std::ldexp(R(1), -exponent - -exponent / 2);
    if (std::isfinite(up * rest)) return std::sqrt(squares(count, x, up * rest)) / rest / up;
    R total = 0;
    for (Index i = 0; i < count; ++i) total += (x[i] * up * rest) * (x[i] * up * rest);
    return std::sqrt(total) / rest / up;
}

template <Scalar T> Real<T> norm_of(Index n, const T* x, Index incx)
{
    constexpr Index parts = planes<T>;
    const Real<T>* const reals = reinterpret_cast<const Real<T>*>(x);
    if (incx == 1 || n <= 1) return norm_of(parts * n, reals);
    constexpr Index piece = 64;
    Real<T> norm = 0;
    for (Index i = 0; i < n; i += piece) {
        T some[piece];
        const Index count = std::min(piece, n - i);
        for (Index j = 0; j < count; ++j) some[j] = x[(i + j) * incx];
        const Real<T> both[2] = {norm, norm_of(parts * count, reinterpret_cast<const Real<T>*>(some))};
        norm = norm_of(2, both);
    }
    return norm;
}

template <Scalar T> void multiply(Index n, T factor, T* x, Index incx)
{
    if constexpr (!is_complex<T>)
        for (Index i = 0; i < n; ++i) x[i * incx] *= factor;
    else
        for (Index i = 0; i < n; ++i) {
            const T old = x[i * incx];
            x[i * incx] = {old.real() * factor.real() - old.imag() * factor.imag(),
                           old.real() * factor.imag() + old.imag() * factor.real()};
        }
}

/// 1 / z without overflow of |z|^2 (Smith 1962, as LAPACK's xLADIV).
template <Scalar T> T inverse(T z)
{
    if constexpr (!is_complex<T>) return 1 / z;
    else {
        const bool flat = std::abs(z.imag()) < std::abs(z.real());
        const Real<T> p = flat ? z.real() : z.imag(), q = flat ? z.imag() : z.real(), ratio = q / p, size = p + q * ratio;
        return flat ? T{1 / size, -ratio / size} : T{ratio / size, -1 / size};
    }
}

/// -sign(alpha) |(alpha, rest)|.
template <Scalar T> Real<T> reflected(T alpha, Real<T> rest)
{
    const Real<T> all[3] = {std::real(alpha), std::imag(alpha), rest};
    return -std::copysign(norm_of<Real<T>>(3, all), std::real(alpha));
}

} // namespace

template <Scalar T> Real<T> column_norm(Index n, const T* x) { return norm_of(n, x, 1); }

template <Scalar T> T larfg(Index n, T& alpha, T* x, Index incx)
{
    using R = Real<T>;
    if (n <= 0) return T(0);
    R rest = norm_of(n - 1, x, incx);
    if (rest == 0 && std::imag(alpha) == 0) return T(0);
    R beta = reflected(alpha, rest);
    int rescaled = 0;
    constexpr int most = 20; // as LAPACK: the least number is larger than that, and a NaN is not less than anything
    for (; std::abs(beta) < safe_least<R>() && rescaled < most; ++rescaled) {
        multiply(n - 1, T(1 / safe_least<R>()), x, incx);
        alpha *= 1 / safe_least<R>();
        rest = norm_of(n - 1, x, incx);
        beta = reflected(alpha, rest);
    }
    T tau;
    if constexpr (is_complex<T>) tau = {(beta - alpha.real()) / beta, -alpha.imag() / beta};
    else tau = (beta - alpha) / beta;
    multiply(n - 1, inverse<T>(alpha - beta), x, incx);
    for (; rescaled > 0; --rescaled) beta *= safe_least<R>();
    alpha = T(beta);
    return tau;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Real<T> column_norm(Index, const T*);                                                                               \
    template T larfg(Index, T&, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
