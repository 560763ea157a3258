#pragma once
#include "blas/level3/operand.hpp"
#include "blas/micro/micro_kernel.hpp"

namespace trencadis::blas {

/// Writes the packed image of A (rows x k) as a left operand, in the format that MicroKernel names: `image` has
/// left_size(rows, k) numbers and is aligned to 64 bytes. Elements that the structure says are not stored are not read.
template <Scalar T> void pack_left(const MicroKernel<T>& kernel, const Operand<T>& A, Index rows, Index k, Real<T>* image);

/// The same for B (k x cols) as a right operand; right_size(k, cols) numbers.
template <Scalar T> void pack_right(const MicroKernel<T>& kernel, const Operand<T>& B, Index k, Index cols, Real<T>* image);

/// What MicroKernel::solve takes: the upper triangle of U (n x n, triangular) with the inverses of its diagonal on the diagonal.
/// Panel j has the rows 0 .. min(n, (j + 1) nr) only, and that of the powers; panels follow one another with those lengths.
template <Scalar T> void pack_triangle(const MicroKernel<T>& kernel, const Operand<T>& U, Index n, Real<T>* image);
/// What MicroKernel::multiply_triangle takes: the same panels, and their lengths, with U's own diagonal and nothing behind it.
template <Scalar T> void pack_factor(const MicroKernel<T>& kernel, const Operand<T>& U, Index n, Real<T>* image);
template <Scalar T> Index triangle_size(const MicroKernel<T>& kernel, Index n);

/// Makes such a panel of the right panel of U's columns [first, first + cols), packed first + cols deep: inverts its diagonal and
/// writes the row of powers behind.
template <Scalar T> void invert_diagonal(const MicroKernel<T>& kernel, Index first, Index cols, Real<T>* panel);

/// The way back: B (rows x k, strides rs and cs) from a packed left operand; padding is left out.
template <Scalar T>
void unpack_left(const MicroKernel<T>& kernel, const Real<T>* image, Index rows, Index k, T* B, Index rs, Index cs);

} // namespace trencadis::blas
