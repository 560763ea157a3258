#pragma once
#include "kernels/testing/reference.hpp"

#include <algorithm>

/// What the tests of QR compare with.
namespace trencadis::testing {

template <Scalar T> Dense<T> identity_matrix(Index rows, Index cols)
{
    Dense<T> I(rows, cols);
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) I(i, j) = T(i == j ? 1 : 0);
    return I;
}

/// LAPACK's limit of its test ratios.
inline constexpr double limit_of_ratios = 30;

/// |Q^H Q - I| <= 30 max(m, 1) eps for the columns of Q, as LAPACK's xQRT02 measures it.
template <Scalar T> void expect_orthonormal(const Dense<T>& Q, const std::string& where)
{
    for (Index j = 0; j < Q.cols; ++j)
        for (Index i = 0; i <= j; ++i) {
            Sum<T> sum;
            for (Index k = 0; k < Q.rows; ++k) sum.add(Q.at(Op::conj_trans, i, k), Q(k, j));
            const long double error = std::abs(sum.value - Wide<T>(i == j ? 1 : 0));
            ASSERT_LE(error, limit_of_ratios * double(Q.rows) * eps<T>) << where << ": columns " << i << " and " << j;
        }
}

/// The columns of A - Q R are below 30 max(m, n) eps times those of A, R being F's upper trapezoid: Householder's errors go with
/// each column apart (Higham 2002, theorem 19.4).
template <Scalar T> void expect_qr_product(const Dense<T>& A, const Dense<T>& Q, const Dense<T>& F, const std::string& where)
{
    for (Index j = 0; j < A.cols; ++j) {
        long double error = 0, size = 0;
        for (Index i = 0; i < A.rows; ++i) {
            Sum<T> sum;
            for (Index k = 0; k <= std::min(j, Q.cols - 1); ++k) sum.add(Q(i, k), F(k, j));
            error += std::norm(sum.value - Wide<T>(A(i, j)));
            size += std::norm(Wide<T>(A(i, j)));
        }
        const long double bound = limit_of_ratios * double(std::max(A.rows, A.cols)) * eps<T>;
        ASSERT_LE(std::sqrt(error), bound * std::sqrt(size)) << where << ": column " << j;
    }
}

/// Columns of very different condition: each is the one before and a little of something random, by powers of `shrink`.
template <Scalar T> Dense<T> ill_conditioned_matrix(Index m, Index n, Real<T> condition)
{
    Dense<T> A = random_matrix<T>(m, n);
    const Dense<T> base = random_matrix<T>(m, 1);
    for (Index j = 1; j < n; ++j) {
        const Real<T> part = std::pow(condition, -Real<T>(j) / Real<T>(n - 1));
        for (Index i = 0; i < m; ++i) A(i, j) = base(i, 0) + part * A(i, j);
    }
    return A;
}

} // namespace trencadis::testing
