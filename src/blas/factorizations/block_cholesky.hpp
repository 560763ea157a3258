#pragma once
#include "base/types.hpp"
#include "matrix/ops.hpp"

namespace trencadis::blas {

/// A <- its Cholesky factor in one triangle, as potrf, for one block of real numbers, n of a few hundred: the triangle is packed
/// as a left operand and factored there from the left, nr columns at a time, each with one sweep of MicroKernel::solve down the
/// rows, which updates and solves in registers. A column block becomes the right operand of its sweep by copying n nr numbers;
/// nothing is packed twice. With info > 0 the columns before it hold the factor as far as it is known, and the pivot is stored
/// where it failed.
template <class R> Index block_cholesky(Uplo uplo, Index n, R* A, Index lda);

/// Asks for its buffers, so that it does not fail. Throws Error{out_of_memory}.
template <class R> void reserve_block_cholesky(Index n);

} // namespace trencadis::blas
