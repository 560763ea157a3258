#pragma once
#include <complex>
#include <concepts>

namespace trencadis {

/// The four LAPACK scalars: s, d, c, z.
template <class T>
concept Scalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>>;

template <class T> struct RealOf {
    using type = T;
};
template <class R> struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T> using Real = typename RealOf<T>::type; ///< float for s and c, double for d and z

template <class T> inline constexpr bool is_complex = !std::same_as<T, Real<T>>;

/// Real operations per multiply-add pair: 2 real, 8 complex.
template <class T> inline constexpr double flops_per_fma = is_complex<T> ? 8.0 : 2.0;

} // namespace trencadis
