#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

namespace trencadis::blas {

/// Clears the imaginary parts of the diagonal of C (n x n). A Hermitian update does it before, as what is stored there counts as
/// zero whatever it is, and after, as rounding leaves something.
template <Scalar T> void make_diagonal_real(Index n, T* C, Index ldc)
{
    if constexpr (is_complex<T>)
        for (Index j = 0; j < n; ++j) C[j * (ldc + 1)].imag(0);
}

} // namespace trencadis::blas
