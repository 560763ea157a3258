#pragma once
#include "blas/level3/control_tree.hpp"
#include "blas/level3/product.hpp"

namespace trencadis::blas {

/// One triangle of C <- alpha A A^T + beta C of real numbers, as far as the second cache holds op(A): what is packed of it, or
/// lies well, is both operands, where a product of two would be packed twice. An element has the bits that `multiply` gives it
/// by packing both. False: it is another product, or too large, or there is no memory; nothing was done. x normalised, rs = 1.
template <Scalar T> bool multiply_by_itself(const Product<T>& x, const Setup<T>& with);

} // namespace trencadis::blas
