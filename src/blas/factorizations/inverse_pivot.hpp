#pragma once
#include "base/types.hpp"
#include "blas/level3/division.hpp"

#include <cmath>
#include <limits>

namespace trencadis::blas {

/// The inverse of a pivot that is not zero; false where columns are to be divided by it instead, because the inverse may
/// overflow.
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
