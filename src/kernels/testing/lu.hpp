#pragma once
#include "blas/testing/unblocked_lu.hpp"
#include "kernels/testing/reference.hpp"

#include <algorithm>
#include <utility>

/// What the tests of LU compare with.
namespace trencadis::testing {

/// The rows in the order in which the pivots leave them.
inline std::vector<Index> order_of(Index rows, const std::vector<Index>& pivots)
{
    std::vector<Index> order(static_cast<std::size_t>(rows));
    for (Index i = 0; i < rows; ++i) order[std::size_t(i)] = i;
    for (std::size_t i = 0; i < pivots.size(); ++i) std::swap(order[i], order[std::size_t(pivots[i] - 1)]);
    return order;
}

/// |P A - L U| <= c k eps |L| |U| (Higham, theorem 9.3: gamma_k with k terms in each sum; two more for the pivot's inverse and
/// the product with it), padding untouched.
template <Scalar T>
void expect_lu_product(const Dense<T>& A, const Dense<T>& F, const std::vector<Index>& pivots, const std::string& where)
{
    const Index steps = std::min(A.rows, A.cols);
    const std::vector<Index> order = order_of(A.rows, pivots);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) {
            Sum<T> sum;
            for (Index k = 0; k <= std::min({i, j, steps - 1}); ++k) sum.add(k == i ? T(1) : F(i, k), F(k, j));
            const Wide<T> exact = Wide<T>(A(order[std::size_t(i)], j));
            const long double bound = double(std::min({i, j, steps}) + 4) * rounding<T> * eps<T> * sum.magnitude;
            ASSERT_LE(std::abs(sum.value - exact), bound) << where << ": at " << i << ", " << j;
        }
    expect_untouched(A, F, [](Index, Index) { return true; });
}

/// The same with partial pivoting: entries of L at most 1 up to rounding (complex: sqrt 2, pivots are compared by |re| + |im|).
template <Scalar T>
void expect_lu(const Dense<T>& A, const Dense<T>& F, const std::vector<Index>& pivots, const std::string& where)
{
    expect_lu_product(A, F, pivots, where);
    const Real<T> most = (is_complex<T> ? Real<T>(1.4143) : Real<T>(1)) * (1 + 8 * eps<T>);
    for (Index j = 0; j < std::min(A.rows, A.cols); ++j)
        for (Index i = j + 1; i < A.rows; ++i) ASSERT_LE(std::abs(F(i, j)), most) << where << ": at " << i << ", " << j;
}

/// |op(A) X - B| <= 3 n eps (op(P^T |L| |U|)) |X| (Higham, theorem 9.4).
template <Scalar T>
void expect_lu_solution(Op op, const Dense<T>& A, const Dense<T>& F, const std::vector<Index>& pivots, const Dense<T>& X,
                        const Dense<T>& B, const std::string& where)
{
    const Index n = A.rows;
    const std::vector<Index> order = order_of(n, pivots);
    std::vector<long double> sizes(std::size_t(n * n)); // P^T |L| |U|
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            long double sum = 0;
            for (Index k = 0; k <= std::min(i, j); ++k) sum += moduli(k == i ? T(1) : F(i, k), F(k, j));
            sizes[std::size_t(order[std::size_t(i)] + j * n)] = sum;
        }
    for (Index c = 0; c < B.cols; ++c)
        for (Index i = 0; i < n; ++i) {
            Sum<T> sum;
            long double magnitude = 0;
            for (Index k = 0; k < n; ++k) {
                sum.add(A.at(op, i, k), X(k, c));
                magnitude += sizes[std::size_t(op == Op::none ? i + k * n : k + i * n)] * (long double)(std::abs(X(k, c)));
            }
            ASSERT_LE(std::abs(sum.value - Wide<T>(B(i, c))), double(3 * n + 4) * rounding<T> * eps<T> * magnitude)
                << where << ": at " << i << ", " << c;
        }
    expect_untouched(B, X, [](Index, Index) { return true; });
}

} // namespace trencadis::testing
