#pragma once
#include "base/scalar.hpp"

#include <cmath>

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

} // namespace trencadis::blas
