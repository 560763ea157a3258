#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

namespace trencadis::blas {

/// x <- op(A)^-1 x, A triangular, for one vector: one read of the triangle. No test for singularity. As level3.hpp otherwise;
/// allocates nothing. n^2 flops (4 times that complex).
template <Scalar T> void solve_vector(Uplo uplo, Op op, Diag diag, Index n, const T* A, Index lda, T* x);

} // namespace trencadis::blas
