#pragma once
#include "drivers/linear_algebra.hpp"

#include <memory>

namespace trencadis {

/// A = Q R by tiles, A m x n: in the form that `variant` names (flat, plasma, binary, greedy, fibonacci; docs/decisions/0057),
/// 'greedy' where none is named. R is in A's upper trapezoid. What is below are no LAPACK's reflectors, hence an object that
/// knows how to apply Q, of order m. A stays the caller's and must outlive the object, unchanged. Memory beside it: 32 m n / nb
/// numbers, twice that with a tree. 2 m n^2 - 2/3 n^3 flops for m >= n (4 times that complex), and at most half as much again
/// with small tiles. Several threads may apply at once. Buttari, Langou, Kurzak, Dongarra 2009; Bouwmeester, Jacquelin, Langou,
/// Robert 2011.
template <Scalar T> class TileQr {
public:
    /// Factors A in place by the crew. Throws as the routines do. The crew must outlive the object.
    TileQr(Crew& crew, Index m, Index n, T* A, Index lda, const RoutineOptions& options = {});
    ~TileQr();

    /// C <- op(Q) C, C m x columns; op is none or conj_trans (real: or trans).
    void apply(Op op, Index columns, T* C, Index ldc, const RoutineOptions& options = {}) const;
    /// The first columns of Q, m x columns, at most m.
    void form(Index columns, T* Q, Index ldq, const RoutineOptions& options = {}) const;
    /// The X that minimises |A X - B|, in the first n of the m rows of B (m x nrhs), m >= n; the others tell the residual: its
    /// columns have the norms of theirs. Returns 0, or the number of the first diagonal entry of R that is exactly zero; there is
    /// no X then, and B is Q^H B.
    Index solve(Index nrhs, T* B, Index ldb, const RoutineOptions& options = {}) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace trencadis
