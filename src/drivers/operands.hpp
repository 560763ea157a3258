#pragma once
#include "algorithms/tile_size.hpp"
#include "drivers/routine.hpp"
#include "matrix/conjugate.hpp"

/// From a routine's arguments to the tile matrices that its algorithm takes.
namespace trencadis {

/// Rows of the memory that holds op(A), rows x cols.
inline Index stored_rows(Op op, Index rows, Index cols) { return op == Op::none ? rows : cols; }

/// op(A), `rows` x `cols`, as tiles mb x nb of the memory A, which holds it transposed or not.
template <Scalar T> TileMatrix<T> operand(Op op, const T* A, Index lda, Index rows, Index cols, Index mb, Index nb)
{
    if (op == Op::none) return readable(A, rows, cols, lda, mb, nb);
    return readable(A, cols, rows, lda, nb, mb).with(op);
}

/// A triangle of C as the lower one, which algorithms take; `mirror` turns one triangle into the other.
template <Scalar T> TileMatrix<T> lower_triangle(Uplo uplo, Op mirror, const T* C, Index n, Index ldc, Index nb)
{
    return readable(C, n, n, ldc, nb, nb).with(uplo == Uplo::lower ? Op::none : mirror);
}

/// Tiles nb x nb of the result of a product, with depth kb.
struct ProductTiles {
    Index nb, kb;
};
template <Scalar T> ProductTiles product_tiles(const Crew& crew, Index m, Index n, Index k, const RoutineOptions& options)
{
    if (options.nb) return {options.nb, options.nb};
    return {product_tile(m, n, sizeof(T), crew.workers()), depth_tile(k, sizeof(T))};
}

} // namespace trencadis
