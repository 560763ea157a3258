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

} // namespace trencadis::blas
