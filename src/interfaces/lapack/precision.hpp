#pragma once
#include "base/scalar.hpp"

namespace trencadis::face {

/// BLAS's letter of a scalar type.
template <Scalar T>
inline constexpr char letter = is_complex<T> ? (sizeof(Real<T>) == 4 ? 'c' : 'z') : (sizeof(T) == 4 ? 's' : 'd');

/// A routine's name in one precision. What is orthogonal in real ones is unitary in complex ones: dorgqr, zungqr.
template <Scalar T> struct Name {
    char text[8] = {letter<T>};
    constexpr Name(const char* routine)
    {
        for (int i = 0; routine[i]; ++i) text[i + 1] = routine[i];
        if (is_complex<T> && text[1] == 'o' && text[2] == 'r') text[1] = 'u', text[2] = 'n';
    }
    constexpr operator const char*() const { return text; }
};

/// The first real number of LAPACK's two arrays of work, of which the second holds integers or, where numbers are complex, real
/// ones.
template <Scalar T> Real<T>* first_real(T* work, void* second)
{
    if constexpr (is_complex<T>) return static_cast<Real<T>*>(second);
    else return work;
}

} // namespace trencadis::face
