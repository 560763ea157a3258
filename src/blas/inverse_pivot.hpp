#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <cmath>
#include <limits>

namespace trencadis::blas {

/// a / b as Fortran's compilers divide complex numbers (Smith 1962), which is what LAPACK's results come from.
template <Scalar T> T divided(T a, T b)
{
    if constexpr (is_complex<T>) {
        using R = Real<T>;
        if (std::abs(b.real()) >= std::abs(b.imag())) {
            const R ratio = b.imag() / b.real(), whole = b.real() + b.imag() * ratio;
            return {(a.real() + a.imag() * ratio) / whole, (a.imag() - a.real() * ratio) / whole};
        }
        const R ratio = b.real() / b.imag(), whole = b.real() * ratio + b.imag();
        return {(a.real() * ratio + a.imag()) / whole, (a.imag() * ratio - a.real()) / whole};
    } else return a / b;
}

/// The inverse of a pivot that is not zero; false where columns are to be divided by it instead, because the inverse may overflow.
template <Scalar T> bool inverse_pivot(const T* pivot, T* inverse)
{
    if (!(std::abs(*pivot) >= std::numeric_limits<Real<T>>::min())) return false;
    *inverse = divided(T(1), *pivot);
    return true;
}
template <Scalar T> void divide_by_pivot(Index n, T* x, const T* pivot)
{
    const T by = *pivot;
    for (Index i = 0; i < n; ++i) x[i] = divided(x[i], by);
}

} // namespace trencadis::blas
