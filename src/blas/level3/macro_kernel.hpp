#pragma once
#include "blas/level3/block_sizes.hpp"
#include "blas/level3/operand.hpp"
#include "blas/micro/micro_kernel.hpp"

#include <algorithm>

namespace trencadis::blas {

/// The part of a matrix that an operation writes, or that is not zero.
enum class Part { all, lower, upper };

/// A packed operand. Of a triangular one the panels hold zeros beyond the diagonal, over which multiply_packed does not run but
/// where the diagonal crosses a panel; there they do not meet infinities and NaN of the other one.
template <Scalar T> struct Packed {
    const Real<T>* image; ///< of the whole operand
    Index extent;         ///< its rows (left) or columns (right)
    Index depth;          ///< its k
    Part part = Part::all;
    Index below = 0; ///< the diagonal of `part`: row - column + below = 0
    /// Somebody else may have packed it, so it may lie beyond the second cache: then panels to come are fetched while others are
    /// multiplied, and rows are taken a few panels at a time, since nothing is there to hide the first ones behind.
    bool far = false;
    /// Of a right operand: the image is that of its transpose as a left one (the C of the product has rs = 1 then, and neither
    /// operand is triangular). What both sides of products read is packed once so; see reads_left_as_right.
    bool as_left = false;
    /// Of a right operand: not packed, but columns so far apart, each contiguous, where they lie; 0: packed. Products as above.
    Index in_place = 0;
};

/// Can a right operand be read where it lies, by columns?
template <Scalar T> bool lies_by_columns(const Operand<T>& B)
{
    return B.structure == Structure::general && B.rs == 1 && !B.conjugated;
}
/// And is that as fast as what is packed, of a product of so many rows and that depth in blocks of kc and mc? Every block of
/// rows gets the columns anew: short ones come with many lines beside them, and long strides leave them few sets of the second
/// cache.
template <Scalar T> bool stays_in_place(const Operand<T>& B, Index rows, Index depth, Index kc, Index mc)
{
    constexpr Index few = 2, stride = 1 << 15; // blocks of rows, for which B is not worth packing; bytes
    const bool is_long = 2 * std::min(depth, kc) >= kc || rows <= few * mc;
    return lies_by_columns(B) && is_long && B.cs * Index(sizeof(T)) % stride != 0;
}
/// Such a one, depth x cols.
template <Scalar T> Packed<T> where_it_lies(const Operand<T>& B, Index depth, Index cols)
{
    return {.image = reinterpret_cast<const Real<T>*>(B.data), .extent = cols, .depth = depth, .in_place = B.cs};
}

/// Can the image of a left operand be the right one of a product too?
template <Scalar T> bool reads_left_as_right(const MicroKernel<T>& kernel) { return kernel.multiply_stripe != nullptr; }

/// Does a left panel of that depth stay in half of the first cache, which a right panel `kc` deep fills?
template <Scalar T> bool left_panel_stays(const MicroKernel<T>& kernel, Index kc, Index depth)
{
    return depth * kernel.mr <= kc * kernel.nr;
}

/// C <- alpha A B + beta C for rows [i0, i1) of the packed left operand and columns [j0, j1) of the packed right one, both
/// A.depth deep; i0 is a multiple of mr and j0 of nr, i1 and j1 too or the operand's extent. C is the whole matrix, extent of A x
/// extent of B; of it `part` is written: a triangle begins at the diagonal i = j + `below` of C. The depth is cut into pieces of
/// kc.
template <Scalar T>
void multiply_packed(const MicroKernel<T>& kernel, Index kc, Part part, Index below, T alpha, const Packed<T>& A, Index i0,
                     Index i1, const Packed<T>& B, Index j0, Index j1, T beta, T* C, Index rs, Index cs);

/// X <- X U^-1 for rows [i0, i1) of the packed left operand X (extent x n), U from pack_triangle.
template <Scalar T>
void solve_packed(const MicroKernel<T>& kernel, Real<T>* X, Index extent, Index i0, Index i1, Index n, const Real<T>* triangle);

/// May a solve read and write these rows of B where they lie, and a product with a triangle write them?
template <Scalar T> bool moves_in_place(const MicroKernel<T>& kernel, Index rs, Index cs)
{
    return kernel.solve_in_place && (rs == 1 || (kernel.moves_rows && (cs == 1 || cs == -1)));
}
/// Columns [j, j + nr) of a panel of rows, at most n: B_j <- (B_j - X_0 U_0j) U_jj^-1 where B lies, and X_j in X, the panel's
/// packed image of all n columns. U is the triangle's panel of these columns.
template <Scalar T>
void solve_step(const MicroKernel<T>& kernel, Index j, Index n, const Real<T>* U, Real<T>* X, Index height, Index rows, T* B,
                Index rs, Index cs, const T* next);

/// How many rows of B, whole panels, go past all panels of a triangle of n columns before the next ones do? As many as half of
/// the second cache, `half` numbers, holds in full length, since each panel of U goes past all of them; but a few panels at
/// least, for which a panel of U is worth getting out of the last cache. Where rows of B are contiguous and moved in place, a
/// panel goes along them, past all of U, and the next one's pages are others: one, or two where the second cache does not hold U
/// with them, so that they get it out of the last one together.
template <Scalar T> Index rows_past_triangle(const MicroKernel<T>& kernel, Index half, Index n, Index rs, Index cs)
{
    constexpr Index fewest = 4;
    const bool along_rows = rs != 1 && moves_in_place(kernel, rs, cs);
    const Index kept = half / std::max<Index>(n, 1) / kernel.mr, alone = n * (n + 2 * kernel.nr) / 2 <= half + half / 2 ? 1 : 2;
    return (along_rows ? alone : std::max(fewest, kept)) * kernel.mr;
}

/// Is B, as right_upper sees it, carried past all of a triangle of that order that it is multiplied with, and not past blocks of
/// it? That gives other bits, so it depends on no cache. A long triangle takes many `others`, rows of it, to be worth packing;
/// slices of what is short have none as many.
template <Scalar T> bool goes_past_factor(const MicroKernel<T>& kernel, Side side, Index order, Index others)
{
    constexpr Index medium = 1024, longest = 1800, many = 600;
    const bool along_rows = side == Side::left;
    return kernel.multiply_triangle && kernel.solve_in_place && (!along_rows || kernel.moves_rows) &&
           order <= (others >= many ? longest : medium);
}
/// The product's step: columns [j, j + nr) of a panel of rows, at most n, B_j <- alpha X U_j with X its packed image of all n
/// columns. U is the panel from pack_factor.
template <Scalar T>
void multiply_step(const MicroKernel<T>& kernel, Index j, Index n, const Real<T>* U, const Real<T>* X, Index height, Index rows,
                   T alpha, T* B, Index rs, Index cs);

} // namespace trencadis::blas
