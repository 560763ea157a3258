#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/helpers.hpp"
#include "matrix/ops.hpp"

#include <algorithm>

namespace trencadis::blas {

inline constexpr Index packed_whole = 96; ///< the order of triangles that are not halved

/// Are there so few columns of B (A from the right: rows) beside the triangle that to pack all of it would be a good part of the
/// time? But not one or two, which trsm solves for one by one.
template <Scalar T> bool goes_by_halves(Side side, Index m, Index n)
{
    constexpr Index vectors = 2, few = 64, most = is_complex<T> ? 100 : 240;
    const bool left = side == Side::left;
    const Index order = left ? m : n, others = left ? n : m;
    return order > packed_whole && others <= std::clamp(order / 2, few, most) && (!left || others > vectors);
}

/// trsm and trmm by halves of such a triangle, down to blocks that are packed: the rest is read where it lies, once. The sums are
/// others than those of trsm and trmm, and the same for each column of B (A from the right: row), whichever are beside it. On the
/// calling thread and by `helpers`, who take columns beside what the second cache holds of the triangle, and rows of what is
/// beside it; one without memory takes nothing.
template <Scalar T>
void solve_by_halves(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                     const Helpers& helpers = {});
template <Scalar T>
void multiply_by_halves(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                        const Helpers& helpers = {});

} // namespace trencadis::blas
