#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/helpers.hpp"
#include "matrix/ops.hpp"

namespace trencadis::blas {

/// Products of a structured matrix and one or two vectors: the triangle in memory is read where it lies, once, while packing it
/// would take longer than all else. It is cut into parts of columns by its size alone, which the calling thread and `helpers`
/// take; what they add to the same elements is summed in the order of the parts, so that the bits are those of one core. Up to
/// 18 n numbers of the thread's scratch memory for each vector; false: there is none, or alpha is zero, and nothing was done.
/// Otherwise as level3.hpp. n^2 flops for a vector and a triangle, 2 n^2 for a symmetric matrix (4 times that complex).
inline constexpr Index most_vectors_multiplied = 2;
/// Is a matrix of that order so large that this pays? What is smaller is packed from the second cache at most, once for both.
inline bool goes_by_vectors(Index order, Index vectors)
{
    return vectors <= most_vectors_multiplied && order >= (vectors == 1 ? 80 : 240);
}

/// As trmm, n = 1 or 2 (A on the right: m).
template <Scalar T>
bool multiply_vectors(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                      const Helpers& helpers = {});
/// As symm, or hemm where `hermitian`; n = 1 or 2 (A on the right: m).
template <Scalar T>
bool multiply_vectors(Side side, Uplo uplo, bool hermitian, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
                      Index ldb, T beta, T* C, Index ldc, const Helpers& helpers = {});

} // namespace trencadis::blas
