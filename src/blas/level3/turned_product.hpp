#pragma once
#include "blas/level3/control_tree.hpp"
#include "blas/level3/product.hpp"

namespace trencadis::blas {

/// A product C <- alpha A B + beta C with few columns and an A by rows, made as C^T <- alpha B^T A^T + beta C^T, some rows of C
/// at a time, which are transposed to and fro. So A lies by columns, read once where they lie, and what is packed is B, which is
/// small; otherwise all of A would be transposed for few columns. Real numbers: pairs would be turned for little. Sums are the
/// same to the bit.
template <Scalar T> bool is_turned(const Product<T>& x);
/// False: it is none, or there is no memory for it; nothing was done.
template <Scalar T> bool multiply_turned(const Product<T>& x, const Setup<T>& with);

} // namespace trencadis::blas
