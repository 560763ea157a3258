#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

namespace trencadis {

/// The place of the first one, from 1; 0: none.
template <Scalar T> Index zero_on_diagonal(Index n, const T* A, Index lda)
{
    for (Index i = 0; i < n; ++i)
        if (A[i + i * lda] == T(0)) return i + 1;
    return 0;
}

} // namespace trencadis
