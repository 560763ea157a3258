#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/helpers.hpp"
#include "matrix/ops.hpp"

namespace trencadis::blas {

/// Up to so many columns are solved for one by one: packing the triangle costs more than to read it again.
inline constexpr Index most_vectors = 2;

/// Columns that are solved by one core before others help with what stands above or below them; all n where the triangle is so
/// small that one core reads it from its own cache.
template <Scalar T> constexpr Index vector_band(Index n)
{
    constexpr Bytes near = 3.3e6; // half of it is the triangle
    return Bytes(n) * Bytes(n) * sizeof(T) <= near ? n : 128;
}

/// x <- op(A)^-1 x, A triangular, for one vector: one read of the triangle, of which `helpers` have their parts, with the same
/// bits. No test for singularity. As level3.hpp otherwise; allocates nothing. n^2 flops (4 times that complex).
template <Scalar T>
void solve_vector(Uplo uplo, Op op, Diag diag, Index n, const T* A, Index lda, T* x, const Helpers& helpers = {});

/// As trsm with A on the right, for one or two rows of B, each by itself: n numbers of the thread's scratch memory; false: there
/// is none, or alpha is zero, and nothing was done.
template <Scalar T>
bool solve_rows(Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                const Helpers& helpers = {});

/// What is computed while an element of a large matrix is read once, which takes longer than to multiply by it.
template <Scalar T> inline constexpr Flops flops_for_a_read = (is_complex<T> ? 2 : 1) * 20.0;

} // namespace trencadis::blas
