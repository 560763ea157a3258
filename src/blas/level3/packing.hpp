#pragma once
#include "blas/level3/operand.hpp"
#include "blas/micro/micro_kernel.hpp"

namespace trencadis::blas {

/// Writes the packed image of A (rows x k) as a left operand, in the format that MicroKernel names: `image` has
/// left_size(rows, k) numbers and is aligned to 64 bytes. Elements that the structure says are not stored are not read.
template <Scalar T> void pack_left(const MicroKernel<T>& kernel, const Operand<T>& A, Index rows, Index k, Real<T>* image);

/// The same for B (k x cols) as a right operand; right_size(k, cols) numbers.
template <Scalar T> void pack_right(const MicroKernel<T>& kernel, const Operand<T>& B, Index k, Index cols, Real<T>* image);

/// How the columns of a packed triangle of order n are cut. The first panel has those beyond whole ones: the later columns come,
/// the more there is before them.
struct TrianglePanels {
    Index n, nr;

    Index count() const { return (n + nr - 1) / nr; }
    Index first(Index panel) const { return panel == 0 ? 0 : n - (count() - panel) * nr; }
    Index cols(Index panel) const { return first(panel + 1) - first(panel); }
    /// Rows of nr numbers in the panels before: those down to the last one on the diagonal, and one of powers.
    Index rows_before(Index panel) const { return panel * (first(1) + 1) + panel * (panel - 1) / 2 * nr; }
    Index numbers_before(Index panel) const { return rows_before(panel) * nr; }
    Index numbers() const { return numbers_before(count()); }
};

/// What MicroKernel::solve takes: the upper triangle of U (n x n, triangular) with the inverses of its diagonal on the diagonal.
/// A panel has the rows down to its last one on the diagonal only, and that of the powers; panels follow one another with those
/// lengths.
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
