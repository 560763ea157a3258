#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

namespace trencadis::blas {

/// `count` matrices A of one shape, `stride_a` elements apart, to be factored, and with nrhs > 0 as many right sides B, to be
/// replaced by solutions.
template <Scalar T> struct Batch {
    Index count;
    Index m, n; ///< Cholesky: m == n
    T* A;
    Index lda, stride_a;
    Uplo uplo;     ///< Cholesky
    Index* pivots; ///< LU: min(m, n) of each matrix, the rows from 1
    Index* info;   ///< LAPACK's, of each matrix
    Index nrhs;
    T* B;
    Index ldb, stride_b;

    Index steps() const { return m < n ? m : n; }
    /// Problems [first, first + some).
    Batch part(Index first, Index some) const
    {
        Batch those = *this;
        those.count = some;
        those.A += first * stride_a;
        if (pivots) those.pivots += first * steps();
        those.info += first;
        if (nrhs > 0) those.B += first * stride_b;
        return those;
    }
};

/// Do matrices of this shape gain by sharing vectors, one in each lane?
bool side_by_side(Index m, Index n);
/// How many of them are worked on at the same time.
template <Scalar T> Index lanes();

/// A = L L^H in place in one triangle of each matrix, and B <- A^-1 B: potrf (level3.hpp) and posv for each, several at a time in
/// the lanes of vectors. What is computed of one does not depend on the others, on their number or on its place among them. Where
/// info is not 0, the columns before that hold the factor as far as it is known, the pivot is stored where it failed, and B is as
/// it was. One core, at most 16 columns of B at a time in a work area of lanes (m + 1) (n + 16) numbers. Throws
/// Error{out_of_memory}.
template <Scalar T> void cholesky_batch(const Batch<T>& batch);
/// A = P L U with LAPACK's partial pivoting as getrf has it (lu.hpp), and B <- A^-1 B (m == n); the rest as above.
template <Scalar T> void lu_batch(const Batch<T>& batch);

} // namespace trencadis::blas
