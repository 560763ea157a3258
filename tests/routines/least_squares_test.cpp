#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace trencadis {
namespace {

using namespace testing;

Session& session()
{
    static Session made;
    return made;
}

template <class T> class LeastSquares : public ::testing::Test {
protected:
    using R = Real<T>;
    /// NaN where A has no such rows.
    static Dense<T> columns(const Dense<T>& A, Index rows)
    {
        Dense<T> B(rows, A.cols);
        for (Index j = 0; j < A.cols; ++j)
            for (Index i = 0; i < std::min(rows, A.rows); ++i) B(i, j) = A(i, j);
        return B;
    }
    static long double length(const Dense<T>& A)
    {
        long double sum = 0;
        for (Index j = 0; j < A.cols; ++j)
            for (Index i = 0; i < A.rows; ++i) sum += std::norm(Wide<T>(A(i, j)));
        return std::sqrt(sum);
    }
    /// op(A) X - B where X and B are the upper rows of what is given.
    static Dense<T> residual(Op op, const Dense<T>& A, const Dense<T>& X, const Dense<T>& B)
    {
        const Index m = op == Op::none ? A.rows : A.cols, n = op == Op::none ? A.cols : A.rows;
        Dense<T> left(m, B.cols);
        for (Index j = 0; j < B.cols; ++j)
            for (Index i = 0; i < m; ++i) {
                Wide<T> sum = -Wide<T>(B(i, j));
                for (Index l = 0; l < n; ++l) sum += Wide<T>(A.at(op, i, l)) * Wide<T>(X(l, j));
                left(i, j) = T(sum);
            }
        return left;
    }
    /// How long the part of it is that the columns of op(A) reach.
    static long double reached(Op op, const Dense<T>& A, const Dense<T>& left)
    {
        const Index n = op == Op::none ? A.cols : A.rows;
        Dense<T> products(n, left.cols);
        for (Index j = 0; j < left.cols; ++j)
            for (Index i = 0; i < n; ++i) {
                Wide<T> sum = 0;
                for (Index l = 0; l < left.rows; ++l) sum += Wide<T>(conjugate(A.at(op, l, i))) * Wide<T>(left(l, j));
                products(i, j) = T(sum);
            }
        return length(products);
    }
    static Index solve(Op op, const Dense<T>& A, Dense<T>& B, Index nb = 0)
    {
        Dense<T> factors = A;
        return gels(session(), op, A.rows, A.cols, B.cols, factors.data.data(), factors.ld, B.data.data(), B.ld, {.nb = nb});
    }
    static Dense<T> scaled(Dense<T> A, R factor)
    {
        for (Index j = 0; j < A.cols; ++j)
            for (Index i = 0; i < A.rows; ++i) A(i, j) *= factor;
        return A;
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LeastSquares, Scalars);

/// LAPACK's dqrt17 and dqrt16: ratios below its threshold of 30 with some room, of matrices whose condition is modest.
TYPED_TEST(LeastSquares, LeaveWhatTheColumnsDoNotReach)
{
    using T = TypeParam;
    for (const Index nb : {0, 16})
        for (const Op op : {Op::none, herm_op<T>})
            for (const Index m : {1, 9, 40, 61})
                for (const Index n : {1, 9, 40, 61}) {
                    const Dense<T> A = random_matrix<T>(m, n), B = random_matrix<T>(op == Op::none ? m : n, 3);
                    Dense<T> X = this->columns(B, std::max(m, n));
                    const Dense<T> before = X;
                    ASSERT_EQ(this->solve(op, A, X, nb), 0);
                    expect_untouched(before, X, [](Index, Index) { return true; });
                    const Dense<T> left = this->residual(op, A, X, B);
                    const long double scale = this->length(A) * (this->length(A) * this->length(X) + this->length(B));
                    EXPECT_LE(this->reached(op, A, left), 10 * double(std::max(m, n)) * eps<T> * scale) << m << " x " << n;
                }
}

TYPED_TEST(LeastSquares, DoNotReadRowsThatOnlyTheSolutionHas)
{
    using T = TypeParam;
    constexpr Index m = 3, n = 7;
    const Dense<T> A = random_matrix<T>(m, n), B = random_matrix<T>(m, 2);
    Dense<T> X = this->columns(B, n), Y = X;
    for (Index j = 0; j < 2; ++j)
        for (Index i = m; i < n; ++i) {
            X(i, j) = T(0);
            Y(i, j) = T(std::numeric_limits<Real<T>>::infinity());
        }
    ASSERT_EQ(this->solve(Op::none, A, X, 0), 0);
    ASSERT_EQ(this->solve(Op::none, A, Y, 0), 0);
    for (Index j = 0; j < 2; ++j)
        for (Index i = 0; i < n; ++i) EXPECT_EQ(X(i, j), Y(i, j));
}

TEST(LeastSquaresVariants, AreThoseOfTheFactorization)
{
    for (const std::string_view variant : variants_of("gels")) {
        const Dense<double> A = random_matrix<double>(40, 40), B = random_matrix<double>(40, 2);
        Dense<double> factors = A, X = B, expected = B, again = A;
        const auto run = [&](Dense<double>& a, Dense<double>& x, const RoutineOptions& options) {
            return gels(session(), Op::none, 40, 40, 2, a.data.data(), a.ld, x.data.data(), x.ld, options);
        };
        ASSERT_EQ(run(factors, X, {.nb = 8, .variant = std::string(variant)}), 0) << variant;
        ASSERT_EQ(run(again, expected, {}), 0);
        for (Index i = 0; i < 40; ++i) EXPECT_NEAR(X(i, 0), expected(i, 0), 1e-9) << variant;
    }
}

TYPED_TEST(LeastSquares, OfWideMatricesAreTheShortest)
{
    using T = TypeParam;
    const Index m = 12, n = 30;
    for (const bool adjoint : {false, true}) {
        const Dense<T> A = adjoint ? random_matrix<T>(n, m) : random_matrix<T>(m, n), B = random_matrix<T>(m, 2);
        Dense<T> X = this->columns(B, n);
        const Op op = adjoint ? herm_op<T> : Op::none;
        ASSERT_EQ(this->solve(op, A, X), 0);
        // The shortest one is op(A)^H y for some y: nothing of it is left by those columns.
        const Dense<T> solution = this->columns(X, n);
        Dense<T> y = solution;
        const Op back = adjoint ? Op::none : herm_op<T>;
        ASSERT_EQ(this->solve(back, A, y), 0);
        const Dense<T> left = this->residual(back, A, y, solution);
        EXPECT_LE(this->length(left), 1000 * eps<T> * this->length(A) * this->length(y));
    }
}

TYPED_TEST(LeastSquares, LeaveTheResidualUnderTheSolution)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(50, 20), B = random_matrix<T>(50, 1);
    Dense<T> X = B;
    ASSERT_EQ(this->solve(Op::none, A, X), 0);
    Dense<T> rest(30, 1);
    for (Index i = 0; i < 30; ++i) rest(i, 0) = X(20 + i, 0);
    const long double expected = this->length(this->residual(Op::none, A, X, B));
    EXPECT_NEAR(double(this->length(rest) / expected), 1, 1000 * double(eps<T>));
}

TYPED_TEST(LeastSquares, OfNothingAndOfZerosAreZero)
{
    using T = TypeParam;
    const auto all_zero = [](const Dense<T>& X) {
        for (Index j = 0; j < X.cols; ++j)
            for (Index i = 0; i < X.rows; ++i) EXPECT_EQ(X(i, j), T(0));
    };
    for (const auto& [m, n] : {std::pair<Index, Index>{0, 5}, {5, 0}, {0, 0}}) {
        Dense<T> X = random_matrix<T>(std::max(m, n), 2);
        EXPECT_EQ(this->solve(Op::none, Dense<T>(m, n), X), 0);
        all_zero(X);
    }
    Dense<T> X = random_matrix<T>(7, 2), nothing(7, 0);
    EXPECT_EQ(this->solve(Op::none, this->scaled(random_matrix<T>(7, 4), 0), X), 0);
    all_zero(X);
    EXPECT_EQ(this->solve(Op::none, random_matrix<T>(7, 4), nothing), 0) << "nrhs = 0";
}

TYPED_TEST(LeastSquares, OfAColumnOfZerosHaveNone)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(30, 12), B = random_matrix<T>(30, 2), X = B;
    for (Index i = 0; i < 30; ++i) A(i, 0) = T(0); // R's first element is then exactly zero
    EXPECT_EQ(this->solve(Op::none, A, X), 1);
    X = B;
    EXPECT_EQ(this->solve(herm_op<T>, A, X), 1);
    Dense<T> wide = random_matrix<T>(12, 30);
    for (Index j = 0; j < 30; ++j) wide(0, j) = T(0);
    X = B;
    EXPECT_EQ(this->solve(Op::none, wide, X), 1);
    X = B;
    EXPECT_EQ(this->solve(herm_op<T>, wide, X), 1);
}

/// Squares of such elements are beyond the numbers, of A, of B and of both.
TYPED_TEST(LeastSquares, OfHugeAndTinyNumbersAreThoseOfModestOnes)
{
    using T = TypeParam;
    using R = Real<T>;
    const R huge = std::ldexp(R(1), std::numeric_limits<R>::max_exponent - 4),
            tiny = std::ldexp(R(1), std::numeric_limits<R>::min_exponent + 2);
    for (const auto& [m, n] : {std::pair<Index, Index>{20, 9}, {9, 20}}) {
        const Dense<T> A = random_matrix<T>(m, n), B = random_matrix<T>(m, 2);
        Dense<T> expected = this->columns(B, std::max(m, n));
        ASSERT_EQ(this->solve(Op::none, A, expected), 0);
        for (const R both : {huge, tiny}) {
            Dense<T> X = this->columns(this->scaled(B, both), std::max(m, n));
            ASSERT_EQ(this->solve(Op::none, this->scaled(A, both), X), 0);
            for (Index j = 0; j < 2; ++j)
                for (Index i = 0; i < n; ++i)
                    EXPECT_LE(std::abs(X(i, j) - expected(i, j)), R(200) * eps<T> * R(this->length(expected))) << both;
        }
        Dense<T> X = this->columns(this->scaled(B, tiny), std::max(m, n)); // tiny alone: so is the solution
        ASSERT_EQ(this->solve(Op::none, A, X), 0);
        EXPECT_NEAR(std::abs(X(0, 0)) / tiny, std::abs(expected(0, 0)), R(1000) * eps<T> * R(this->length(expected)));
    }
}

TYPED_TEST(LeastSquares, OfNansAndInfinitiesAreNoNumbers)
{
    using T = TypeParam;
    using R = Real<T>;
    for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()})
        for (const auto& [m, n] : {std::pair<Index, Index>{4, 3}, {3, 4}})
            for (Index at = 0; at < m * n; ++at) {
                Dense<T> A = random_matrix<T>(m, n), X = random_matrix<T>(4, 1);
                A(at % m, at / m) = T(bad);
                // All but an infinity is zero once it has been scaled, and a zero on the triangle's diagonal may be what is found
                // first.
                if (this->solve(Op::none, A, X) > 0) continue;
                bool finite = true;
                for (Index i = 0; i < n; ++i) finite = finite && std::isfinite(std::abs(X(i, 0)));
                EXPECT_FALSE(finite) << bad << " at " << at;
            }
}

int refused(const std::function<void()>& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.argument();
    }
    return 0;
}

TEST(LeastSquaresArguments, AreNumberedAsInLapack)
{
    Session& s = session();
    double a[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b[12] = {}, tau[3] = {}, t[9] = {}, *const null = nullptr;
    std::complex<double> z[4] = {}, y[4] = {};
    EXPECT_EQ(refused([&] { gels(s, Op::trans, 2, 2, 1, z, 2, y, 2); }), 1);
    EXPECT_EQ(refused([&] { gels(s, Op::conj_trans, 2, 2, 1, a, 2, b, 2); }), 0) << "is the transpose of a real matrix";
    EXPECT_EQ(refused([&] { gels(s, Op::none, 2, 3, 1, a, 2, b, 2); }), 8) << "B has max(m, n) rows";
    EXPECT_EQ(refused([&] { gels(s, Op::none, 2, 2, 1, a, 2, a, 2); }), 5) << "B is A";
    EXPECT_EQ(refused([&] { geqrf(s, 3, 3, a, 3, null); }), 5);
    EXPECT_EQ(refused([&] { geqrf(s, 0, 3, null, 1, null); }), 0);
    EXPECT_EQ(refused([&] { orgqr(s, 2, 3, 2, a, 3, tau); }), 2) << "n > m";
    EXPECT_EQ(refused([&] { orgqr(s, 3, 2, 3, a, 3, tau); }), 3) << "k > n";
    EXPECT_EQ(refused([&] { orglq(s, 3, 2, 2, a, 3, tau); }), 2) << "n < m";
    EXPECT_EQ(refused([&] { orglq(s, 2, 3, 3, a, 3, tau); }), 3) << "k > m";
    EXPECT_EQ(refused([&] { ormqr(s, Side::left, Op::none, 2, 3, 3, a, 3, tau, b, 2); }), 5) << "k > m";
    EXPECT_EQ(refused([&] { ormqr(s, Side::right, Op::none, 2, 3, 3, a, 3, tau, b, 2); }), 0);
    EXPECT_EQ(refused([&] { ormqr(s, Side::right, Op::none, 2, 3, 3, a, 2, tau, b, 2); }), 7);
    EXPECT_EQ(refused([&] { ormlq(s, Side::left, Op::none, 3, 2, 4, a, 4, tau, b, 3); }), 5);
    EXPECT_EQ(refused([&] { ormlq(s, Side::left, Op::none, 3, 2, 3, a, 3, tau, a, 3); }), 9) << "C is A";
    EXPECT_EQ(refused([&] { geqrt(s, 3, 3, 0, a, 3, t, 3); }), 3);
    EXPECT_EQ(refused([&] { geqrt(s, 3, 2, 3, a, 3, t, 3); }), 3) << "nb > min(m, n)";
    EXPECT_EQ(refused([&] { geqrt(s, 3, 3, 3, a, 3, t, 2); }), 7);
    EXPECT_EQ(refused([&] { gemqrt(s, Side::left, Op::none, 3, 2, 3, 4, a, 3, t, 4, b, 3); }), 6) << "nb > k";
    EXPECT_EQ(refused([&] { larft(Direction::forward, Storage::rows, 3, 2, a, 1, tau, t, 2); }), 6);
}

} // namespace
} // namespace trencadis
