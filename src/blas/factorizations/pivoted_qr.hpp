#pragma once
#include "blas/factorizations/qr.hpp"
#include "blas/level3/helpers.hpp"
#include "blas/level3/scratch.hpp"
#include "graph/team.hpp"

#include <functional>
#include <optional>

/// QR with column pivoting: A P = Q R where each column of A that comes next is the longest of those that are left, below the
/// rows that are done.
namespace trencadis::blas {

/// Who helps. Where a function is empty the calling thread does it, and is asked nothing.
template <Scalar T> struct PivotingHelp {
    /// Carries out `work`, which takes all of so many chunks from its team, on several cores; false: nothing was done. `work`
    /// does not throw.
    Share share;
    /// C <- C - A B^H, C m x n with columns of length k in B's and A's rows.
    std::function<void(Index m, Index n, Index k, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc)> subtract;
    /// Called before each column; what it throws ends the factorization, with A, jpvt and tau as they are then.
    std::function<void()> before_column = {};
};

/// How many of n columns are factored before those that are left are updated as a whole.
Index pivoting_block(Index n);

/// What blocks of n columns need beside them; narrower blocks where there is no memory for wide ones, and nothing where there is
/// none for one column, or where none is wanted (`block` 0).
template <Scalar T> class PivotingRoom {
public:
    PivotingRoom(Index n, Index block);
    Index block() const { return block_; } ///< columns
    T* data() const { return buffer_ ? buffer_->template as<T>() : nullptr; }

private:
    Index block_;
    std::optional<SharedBuffer> buffer_;
};

/// Columns that jpvt (n numbers) does not have 0 for come first, in their order; jpvt <- what columns these are, from 1. Returns
/// how many were fixed.
template <Scalar T> Index bring_fixed_columns(Index m, Index n, T* A, Index lda, Index* jpvt);

/// The columns of A, m x n, of which `done` rows on top belong to an R that is known already: they are exchanged, together with
/// jpvt's n numbers, and factored as geqrf does, the rows below, with min(m - done, n) numbers of tau. Of several columns equally
/// long the first is taken; a NaN is not longer than anything. Without room norms are found anew for each column, with twice the
/// work. As geqrf for flops, half of them in products with one vector: Quintana-Orti, Sun, Bischof 1998; norms: Drmac, Bujanovic
/// 2008.
template <Scalar T>
void factor_free_columns(Index m, Index n, Index done, T* A, Index lda, Index* jpvt, T* tau, const PivotingRoom<T>& room,
                         const PivotingHelp<T>& help);

/// All of it on one core, with buffers of its own.
template <Scalar T> void geqp3(Index m, Index n, T* A, Index lda, Index* jpvt, T* tau);

} // namespace trencadis::blas
