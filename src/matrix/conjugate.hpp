#pragma once
#include "matrix/ops.hpp"

namespace trencadis {

template <Scalar T> T conjugate(T x)
{
    if constexpr (is_complex<T>) return std::conj(x);
    else return x;
}

/// What a scalar factor becomes where memory holds `op` of the matrix it multiplies.
template <Scalar T> T seen_through(Op op, T x) { return op == Op::conj_trans ? conjugate(x) : x; }

} // namespace trencadis
