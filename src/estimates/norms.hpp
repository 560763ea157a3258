#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <functional>

namespace trencadis::estimates {

/// What a norm is taken of: column-major, m x n.
template <Scalar T> struct Measured {
    enum class Shape { all, lower, upper };     ///< what is stored, for a triangle without its diagonal
    enum class Diagonal { stored, unit, real }; ///< of a triangle: as it stands there, ones, or real parts
    Index m, n;
    const T* A;
    Index lda;
    Shape shape = Shape::all;
    Diagonal diagonal = Diagonal::stored;
    bool mirrored = false; ///< the other triangle has the same moduli

    static Measured general(Index m, Index n, const T* A, Index lda) { return {m, n, A, lda}; }
    static Measured triangular(Uplo uplo, Diag diag, Index m, Index n, const T* A, Index lda)
    {
        return {m, n, A, lda, shape_of(uplo), diag == Diag::unit ? Diagonal::unit : Diagonal::stored};
    }
    static Measured symmetric(Uplo uplo, Index n, const T* A, Index lda)
    {
        return {n, n, A, lda, shape_of(uplo), Diagonal::stored, true};
    }
    static Measured hermitian(Uplo uplo, Index n, const T* A, Index lda)
    {
        return {n, n, A, lda, shape_of(uplo), Diagonal::real, true};
    }

    bool empty() const { return m <= 0 || n <= 0; }
    /// Rows of column j that are read but for the diagonal.
    Index first(Index j) const { return shape == Shape::lower ? std::min(j + 1, m) : 0; }
    Index last(Index j) const { return shape == Shape::upper ? std::min(j, m) : m; }
    /// A lower trapezoid ends with its diagonal.
    Index columns() const { return shape == Shape::lower ? std::min(m, n) : n; }
    bool has_diagonal(Index j) const { return shape != Shape::all && j < m; }

private:
    static Shape shape_of(Uplo uplo) { return uplo == Uplo::lower ? Shape::lower : Shape::upper; }
};

/// Carries out part(i) for i < count in any order, several at once where it can.
using Parts = std::function<void(Index count, const std::function<void(Index i)>& part)>;

/// The norm as LAPACK's lange, lansy, lanhe and lantr find it: a NaN where an element is one, sums of squares without overflow, 0
/// where there is nothing. One read of the matrix, a second one where squares are beyond the numbers or lose digits. Sums of rows
/// take m numbers in `work`, or from the heap where that is null.
template <Scalar T> Real<T> norm(Norm norm, const Measured<T>& A, Real<T>* work = nullptr);
/// The same with the columns shared among `count` parts, of which each takes m numbers for sums of rows.
template <Scalar T> Real<T> norm(Norm norm, const Measured<T>& A, Index count, const Parts& parts);

} // namespace trencadis::estimates
