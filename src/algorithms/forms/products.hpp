#pragma once
#include "algorithms/forms/form.hpp"
#include "algorithms/node_product.hpp"
#include "algorithms/packed_product.hpp"
#include "algorithms/tile_size.hpp"

/// What the forms of products and triangular solves have in common: operands at a place, and what the rows say alike.
namespace trencadis {

/// A structured operand, from the triangle `uplo` in memory, or op of it.
template <Scalar T>
blas::Operand<T> structured(blas::Structure structure, Uplo uplo, Diag diag, const T* A, Index lda, Op op = Op::none)
{
    blas::Operand<T> operand = blas::general(A, lda);
    operand.structure = structure;
    operand.uplo = uplo;
    operand.diag = diag;
    return operand.op(op);
}
/// The next operand, square, as one with that structure.
template <Scalar T>
blas::Operand<T> structured(Place& place, blas::Structure structure, const Problem& x, Index order, Op op = Op::none)
{
    const MatrixView<T> A = place.columns<T>(order, order);
    return structured<T>(structure, x.uplo, x.diag, A.data, A.ld, op);
}
/// op of the next operand, rows x cols, column by column.
template <Scalar T> blas::Operand<T> general(Place& place, Op op, Index rows, Index cols)
{
    const MatrixView<T> A = op == Op::none ? place.columns<T>(rows, cols) : place.columns<T>(cols, rows);
    return blas::general<T>(A.data, A.ld, op);
}
/// The same in tiles mb x nb.
template <Scalar T> TileMatrix<T> general(Place& place, Op op, Index rows, Index cols, Index mb, Index nb)
{
    if (op == Op::none) return place.tiles<T>(rows, cols, mb, nb);
    return place.tiles<T>(cols, rows, nb, mb).with(op);
}
/// A triangle of the next operand as the lower one, which algorithms take; `mirror` turns one triangle into the other.
template <Scalar T> TileMatrix<T> lower_triangle(Place& place, Uplo uplo, Op mirror, Index n, Index nb)
{
    return place.tiles<T>(n, n, nb, nb).with(uplo == Uplo::lower ? Op::none : mirror);
}
/// What mirrors a symmetric or Hermitian matrix.
template <Scalar T> constexpr Op mirror_of(bool hermitian) { return hermitian ? herm_op<T> : Op::trans; }

/// Tiles of a product whose result, or triangle and unknowns, are m x n.
template <Scalar T> ProductCut product_cut(const Problem& x, Index m, Index n)
{
    if (x.cut.rows) return x.cut;
    if (x.nb) return {x.nb, x.nb, x.nb};
    const Index nb = product_tile(m, n, sizeof(T), x.workers);
    return {nb, nb, depth_tile(x.k, sizeof(T))};
}

/// A product on packed tiles; `describe` asks the place for its operands.
template <Scalar T, PackedProduct<T> (*describe)(Place&, const Problem&)> struct PackedLayout : Layout {
    PackedLayout(Place& place, const Problem& x) : PackedLayout(place, x, describe(place, x)) {}
    void submit(Flow& flow) override { packed_product(flow, product, tiling, images); }

    PackedProduct<T> product;
    ProductTiling tiling;
    ProductImages<T> images;

protected:
    PackedLayout(Place& place, const Problem& x, const PackedProduct<T>& of)
        : product(of), tiling(x.nb ? square_tiling(product, x.nb) : product_tiling(product, x.workers)),
          images(product, tiling, place.images())
    {
    }
};

/// C <- alpha op(A) op(B) + beta C.
template <Scalar T> PackedProduct<T> whole_product(Place& place, const Problem& x)
{
    const blas::Operand<T> A = general<T>(place, x.op, x.m, x.k), B = general<T>(place, x.op_b, x.k, x.n);
    return {x.m, x.n, x.k, factor_of<T>(x.alpha), A, B, factor_of<T>(x.beta), place.columns<T>(x.m, x.n)};
}
/// The same by the problem's memory nodes.
template <Scalar T> struct NodesLayout final : Layout {
    NodesLayout(Place& place, const Problem& x) : product(whole_product<T>(place, x), x.nodes, x.nb) {}
    void submit(Flow& flow) override { product.submit(flow); }
    NodeProduct<T> product;
};

// What the rows say.
Index packed_columns(Index m, Index n, std::size_t element_bytes, int workers);
inline Index simulated_product_tile(Index, Index n, std::size_t element, int workers)
{
    return cholesky_tile(n, element, workers);
}

using Lay = void (*)(LayoutRoom&, Place&, const Problem&);
using Codelets = std::span<const std::string_view>;

constexpr Form packed_form(std::span<const KernelRoutine> own, Codelets kernels, const Lay (&lay)[4])
{
    return {.name = "packed",
            .tile = packed_columns,
            .lay = {lay[0], lay[1], lay[2], lay[3]},
            .kernels = kernels,
            .cuts = true,
            .packs_images = true,
            .own = own,
            .simulated_tile = simulated_product_tile};
}
constexpr Form in_place_form(Codelets kernels, const Lay (&lay)[4])
{
    return {.name = "in-place",
            .tile = product_tile,
            .lay = {lay[0], lay[1], lay[2], lay[3]},
            .kernels = kernels,
            .cuts = true,
            .simulated_tile = simulated_product_tile};
}
inline constexpr Index product_device_tiles[] = {1024, 2048, 4096, 8192};
/// One whose tasks devices take.
constexpr Form on_devices(Form form)
{
    form.device_tiles = product_device_tiles;
    form.device_bytes = three_tiles;
    return form;
}
template <KernelRoutine... all> constexpr KernelRoutine own_kernels[] = {all...};

} // namespace trencadis
