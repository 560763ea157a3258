#pragma once
#include "algorithms/packed_slots.hpp"
#include "kernels/tiles/packed_operations.hpp"

#include <algorithm>

namespace trencadis {

/// C <- alpha A B + beta C on our own kernels, A m x k, B k x n, in `part` of C (a triangle: m = n). Structures of A and B are
/// dealt with in packing. C may be the memory that A or B (`in_place`) is read from, element for element.
template <Scalar T> struct PackedProduct {
    Index m, n, k;
    T alpha;
    blas::Operand<T> A, B;
    T beta;
    MatrixView<T> C;
    blas::Part part = blas::Part::all;
    bool real_diagonal = false; ///< Hermitian C: the imaginary part of its diagonal is set to zero
    enum class InPlace { none, A, B } in_place = InPlace::none;
    bool of_transpose = false; ///< B is A^T, and `part` a triangle: one image may serve both
};

/// The tiles: rows and columns of C, and the depth.
struct ProductTiling {
    Index rows, cols, depth; ///< in place of A cols = depth, in place of B rows = depth: the tiles read are those written
    bool packs_left = true;  ///< by tasks of their own; else those that multiply do, into all of a C that is not A
    bool packs_right = true; ///< else B is read where it lies; not where packs_left
};
template <Scalar T> ProductTiling product_tiling(const PackedProduct<T>& product, int workers);
/// With tiles of this edge, as far as the matrices go.
template <Scalar T> ProductTiling square_tiling(const PackedProduct<T>& product, Index nb)
{
    const auto within = [nb](Index size) { return std::clamp<Index>(size, 1, nb); };
    return {within(product.m), within(product.n), within(product.k)};
}

/// How often the tasks of a product of general operands, into all of C, touch what they work on.
struct ProductTraffic {
    Index packs_of_A, packs_of_B;        ///< times that every element is read, and its image written
    Index reads_of_left, reads_of_right; ///< times that an element of an image, or of B in place, is read, over all tiles of C
    Index reads_of_C, writes_of_C;       ///< times that every element is
};
template <Scalar T> ProductTraffic product_traffic(const PackedProduct<T>& product, const ProductTiling& tiling);

/// The packed images of one or more products of the same shape; must outlive the flow's tasks.
template <Scalar T> class ProductImages {
public:
    ProductImages(const PackedProduct<T>& product, const ProductTiling& tiling, const ImagePlace& place = {});

    task::Image<T> left(Index tile, Index step, Index extent, Index depth) const;
    task::Image<T> right(Index tile, Index step, Index extent, Index depth) const;

    /// Are images of rows of A both operands of the tiles of a diagonal block?
    bool serve_both() const { return serve_both_; }

    const WorkMemory& left_memory() const { return left_.memory(); }
    const WorkMemory& right_memory() const { return right_.memory(); }

private:
    bool serve_both_;
    PackedSlots<T> left_, right_;
};

/// Submits the product. Every operand is cut into tiles that are packed once per block of C and used by all the products that
/// need them. Where a tile of C is as wide as its block, only one product needs a tile of A, and packs it into the cache of its
/// core; and B is read where it lies, if it may stay there (blas::stays_in_place). Tiles that a triangular operand leaves zero
/// are left out, and of those on its diagonal the zero part of each micro-panel. 2 m n k flops (8 complex), half for a triangle.
///
/// The images of two steps along k are kept at a time: memory beyond the operands is at most 2 depth (rows + columns of a block
/// of C, 4608 each) numbers, whatever the sizes; of a matrix and its transpose half as much, where images serve both sides. In
/// place, the operand that is overwritten is kept over the whole depth for one
/// block.
///
/// Literature: the loops around the inner kernel of Goto and van de Geijn 2008, as tasks.
template <Scalar T>
void packed_product(Flow& flow, const PackedProduct<T>& product, const ProductTiling& tiling, const ProductImages<T>& images);

} // namespace trencadis
