#pragma once
#include "direct.hpp"
#include "drivers/alone.hpp"
#include "norms.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace trencadis::python {

/// LU of a general matrix on all workers and what it takes to judge it.

/// What the structure of a matrix is called, in SciPy's words; empty: nobody knows.
using Word = std::string;

template <Scalar T> bool positive_diagonal(const Strided& A)
{
    for (Index i = 0; i < A.rows; ++i)
        if (!(std::real(static_cast<const T*>(A.data)[i * (A.row_stride + A.col_stride)]) > 0)) return false;
    return true;
}

/// As SciPy's solve tells structures apart. "positive definite" is what may be so: the Cholesky factorization will tell.
template <Scalar T> Word structure_of(Session& session, const Strided& A)
{
    const auto [below, above] = reach<T>(session, A);
    if (below == 0 && above == 0) return "diagonal";
    if (below == 1 && above == 1 && A.rows > 3) return "tridiagonal";
    if (below == 0) return "upper triangular";
    if (above == 0) return "lower triangular";
    return hermitian<T>(session, A) && positive_diagonal<T>(A) ? "positive definite" : "general";
}

template <Scalar T> Strided seen(T* data, Index rows, Index cols, Index ld) { return {data, rows, cols, 1, ld}; }

/// By the session's workers together.
struct OnWorkers {
    Session& session;

    template <Scalar T> Index factor(Index n, T* A, Index ld, Index* pivots) const
    {
        return getrf(session, n, n, A, ld, pivots, polled());
    }
    template <Scalar T> void solve(Op op, Index n, Index nrhs, const T* A, Index ld, const Index* pivots, T* x, Index ldx) const
    {
        getrs(session, op, n, nrhs, A, ld, pivots, x, ldx, polled());
    }
    template <Scalar T> void invert(Index n, T* A, Index ld, const Index* pivots) const
    {
        getri(session, n, A, ld, pivots, polled());
    }
};

/// The factors of A where A was, with what it takes to tell whether they are any good.
template <Scalar T, class Means> class Factors {
public:
    Factors(const Means& means, Index n, T* A, Index ld)
        : means_(means), n_(n), factors_(A), ld_(ld), norm_(norm1<T>(means.session, seen(A, n, n, ld))),
          pivots_(static_cast<std::size_t>(n)), info_(means.factor(n, A, ld, pivots_.data()))
    {
    }
    Index info() const { return info_; }
    Real<T> norm() const { return norm_; } ///< of A
    double estimated_rcond() const
    {
        Real<T> rcond;
        gecon(means_.session, Norm::one, n_, factors_, ld_, norm_, &rcond);
        return rcond;
    }
    void solve(Op op, Index nrhs, T* x, Index ldx) const { means_.solve(op, n_, nrhs, factors_, ld_, pivots_.data(), x, ldx); }
    /// A^-1 where the factors are.
    void invert() { means_.invert(n_, factors_, ld_, pivots_.data()); }

private:
    Means means_;
    Index n_;
    T* factors_;
    Index ld_;
    Real<T> norm_;
    std::vector<Index> pivots_;
    Index info_;
};

} // namespace trencadis::python
