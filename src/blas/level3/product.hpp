#pragma once
#include "blas/level3/control_tree.hpp"
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/operand.hpp"

namespace trencadis::blas {

/// C <- alpha A B + beta C in one part of C, m x n; A is m x k, B k x n, either with a structure. C must not overlap A or B.
template <Scalar T> struct Product {
    Index m, n, k;
    T alpha;
    Operand<T> A, B;
    T beta;
    T* C;
    Index rs, cs; ///< element (i, j) of C is at C[i * rs + j * cs]
    Part part = Part::all;
};

/// The one driver of gemm, symm, hemm and the rank updates, on the calling thread. alpha = 0 or k = 0: A and B are not read.
/// 2 m n k flops (8 complex), half of it for a triangle.
template <Scalar T> void multiply(const Product<T>& product);

/// The same operation with strides that suit the micro-kernels: rows of C next to one another, upwards in memory.
template <Scalar T> Product<T> normalised(Product<T> product);

/// C^T <- alpha B^T A^T + beta C^T.
template <Scalar T> Product<T> transposed(const Product<T>& product);

/// What `depth` columns of A and rows of B from p on contribute; the first one multiplies C by beta, too.
template <Scalar T> Product<T> depth_of(Product<T> product, Index p, Index depth);

/// How deep the pieces are, cut as ever, of a deep product of which each is so small that it is made where the operands lie:
/// those are then read once, and go through the second cache. Or of one whose few columns' pieces of B stay there, or whose few
/// rows' pieces of A do, beside a B by rows. 0: it is none. x normalised.
template <Scalar T> Index depth_in_place(const Product<T>& x, const Setup<T>& with);

/// C <- beta C in one part (square for a triangle); beta = 0 writes zeros without reading.
template <Scalar T> void scale(Part part, Index m, Index n, T beta, T* C, Index rs, Index cs);

inline Part part_of(Uplo uplo) { return uplo == Uplo::lower ? Part::lower : Part::upper; }

} // namespace trencadis::blas
