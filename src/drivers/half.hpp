#pragma once
#include <cmath>
#include <complex>
#include <limits>

/// What solutions from factors in single precision have in common.
namespace trencadis {

template <class T> struct HalfWide;
template <> struct HalfWide<double> {
    using type = float;
};
template <> struct HalfWide<std::complex<double>> {
    using type = std::complex<float>;
};
template <class T> using Half = typename HalfWide<T>::type;

inline constexpr int most_steps = 30;
/// What LAPACK says instead of a number of steps.
enum Fallback : int { no_memory = -1, overflow = -2, factorization_failed = -3, no_convergence = -most_steps - 1 };

/// LAPACK's measure of a number: no root where it is complex.
inline double cabs1(double x) { return std::abs(x); }
inline double cabs1(std::complex<double> x) { return std::abs(x.real()) + std::abs(x.imag()); }
inline bool fits(double x) { return !(std::abs(x) > double(std::numeric_limits<float>::max())); }
inline bool fits(std::complex<double> x) { return fits(x.real()) && fits(x.imag()); }

} // namespace trencadis
