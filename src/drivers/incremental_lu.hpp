#pragma once
#include "drivers/linear_algebra.hpp"

#include <memory>

namespace trencadis {

/// The LU factors of A by incremental pivoting: tiles are eliminated one at a time, each with interchanges between its rows and
/// those of the triangle on the diagonal, in inner blocks of 32 columns. They are no LAPACK's: there is no P with P A = L U,
/// hence an object that knows what solves with them. U is in A's upper triangle; A stays the caller's and must outlive the
/// object, unchanged. Memory beside it: 16 n^2 / nb numbers. No panel and no tile column is ever needed as a whole, which suits
/// devices and many cores; the pivoting is weaker than partial pivoting (docs/decisions/0055). 2/3 n^3 (1 + 16 / nb) flops (4
/// times that complex). Several threads may solve at once. Buttari, Langou, Kurzak, Dongarra 2009; Quintana-Orti, van de Geijn
/// 2008.
template <Scalar T> class IncrementalLu {
public:
    /// Factors A, n x n, in place by the crew. Throws as the routines do. The crew must outlive the object.
    IncrementalLu(Crew& crew, Index n, T* A, Index lda, const RoutineOptions& options = {});
    ~IncrementalLu();

    /// 0, or the number of the first diagonal entry of U that is exactly zero; the factorization is complete all the same.
    Index info() const;
    /// B <- A^-1 B, B n x nrhs. A zero on U's diagonal is divided by. 2 n^2 nrhs (1 + 16 / nb) flops (4 times that complex).
    void solve(Index nrhs, T* B, Index ldb, const RoutineOptions& options = {}) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace trencadis
