#pragma once
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"

#include <algorithm>

/// Rows of B go past a packed triangle U of order n, X U = B or B <- alpha B U: a panel of them, column by column of U's panels.
namespace trencadis::blas {

/// X <- X U^-1 for rows [i0, i1) of the packed left operand X (extent x n), U from pack_triangle.
template <Scalar T>
void solve_packed(const MicroKernel<T>& kernel, Real<T>* X, Index extent, Index i0, Index i1, Index n, const Real<T>* triangle);

/// May a solve read and write these rows of B where they lie, and a product with a triangle write them?
template <Scalar T> bool moves_in_place(const MicroKernel<T>& kernel, Index rs, Index cs)
{
    return kernel.solve_in_place && (rs == 1 || (kernel.moves_rows && (cs == 1 || cs == -1)));
}
/// Columns [j, j + cols) of a panel of rows, those of one of the triangle's panels, U: B_j <- (B_j - X_0 U_0j) U_jj^-1 where B
/// lies, and X_j in X, the panel's packed image of all columns.
template <Scalar T>
void solve_step(const MicroKernel<T>& kernel, Index j, Index cols, const Real<T>* U, Real<T>* X, Index height, Index rows, T* B,
                Index rs, Index cs, const T* next);

/// The product's step: these columns of a panel of rows, B_j <- alpha X U_j with X its packed image of all columns. U is the
/// panel from pack_factor.
template <Scalar T>
void multiply_step(const MicroKernel<T>& kernel, Index j, Index cols, const Real<T>* U, const Real<T>* X, Index height,
                   Index rows, T alpha, T* B, Index rs, Index cs);

/// How many of `rows` of B, from the first one on, need no image of X? None, unless B's columns, `cs` apart, are contiguous, U is
/// so short that half of the first cache holds a panel of them, and they do not share so few of its sets that it does not; what
/// is less than a vector in the end does. `kc`: of the block sizes. With the bits of the steps.
template <Scalar T> Index rows_without_image(const MicroKernel<T>& kernel, Index kc, Index rows, Index n, Index rs, Index cs)
{
    constexpr Index way = 4096; // bytes, after which columns are in the same set
    const Index half = kc * kernel.nr * Index(sizeof(T)), apart = cs * Index(sizeof(T)), alike = std::min(apart & -apart, way);
    if (!kernel.solve_in_place || rs != 1 || !left_panel_stays(kernel, kc, n) || n * alike > half + half / 3) return 0;
    const Index rest = rows % kernel.mr;
    return rest % kernel.step == 0 ? rows : rows - rest;
}
/// B <- B U^-1 for such rows of B.
template <Scalar T>
void solve_without_image(const MicroKernel<T>& kernel, Index rows, Index n, const Real<T>* triangle, T* B, Index cs);
/// B <- alpha B U.
template <Scalar T>
void multiply_without_image(const MicroKernel<T>& kernel, Index rows, Index n, const Real<T>* factor, T alpha, T* B, Index cs);

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

} // namespace trencadis::blas
