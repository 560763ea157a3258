#pragma once
#include "base/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis::blas {

/// 1 / d as value * power: a power of two other than one only where 1 / d itself is beyond the numbers or subnormal, though
/// x / d need not be. (x * value) * power is then x / d to two roundings.
template <Scalar T> struct Reciprocal {
    T value;
    Real<T> power;
};

/// 1 / d where neither that nor d are beyond the normal numbers.
template <Scalar T> T plain_reciprocal(T d, [[maybe_unused]] Real<T> size)
{
    if constexpr (is_complex<T>) { // about 1 in modulus first, so that the squares are numbers
        int exponent = 0;
        std::frexp(size, &exponent);
        const Real<T> scale = std::ldexp(Real<T>(1), -exponent), re = d.real() * scale, im = d.imag() * scale;
        const Real<T> square = re * re + im * im;
        return {re / square * scale, -im / square * scale};
    } else return 1 / d;
}

template <Scalar T> Reciprocal<T> reciprocal(T d)
{
    using R = Real<T>;
    constexpr R least = 4 * std::numeric_limits<R>::min(), most = R(1) / least;
    constexpr R power = R(1ULL << (std::numeric_limits<R>::digits + 8)); // makes any subnormal number a normal one
    R size = std::abs(std::real(d));
    if constexpr (is_complex<T>) size = std::fmax(size, std::abs(d.imag()));
    if (std::isgreaterequal(size, least) && std::islessequal(size, most)) return {plain_reciprocal(d, size), R(1)};
    if (size == 0 || !std::isfinite(size)) return {T(1) / d, R(1)};
    const R factor = size < least ? power : 1 / power;
    return {plain_reciprocal(T(d * factor), size * factor), factor};
}

} // namespace trencadis::blas
