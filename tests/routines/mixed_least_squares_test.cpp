#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/testing/sessions.hpp"

#include <array>
#include <cmath>

namespace trencadis {
namespace {

using namespace testing;

template <class T> class MixedLeastSquares : public ::testing::Test {
protected:
    int steps = -100;

    Dense<T> solved(Dense<T>& A, const Dense<T>& B, const char* engine = "native", Index info = 0)
    {
        Dense<T> X(A.cols, B.cols);
        EXPECT_EQ(gels_mixed(session_on(engine), A.rows, A.cols, B.cols, A.data.data(), A.ld, B.data.data(), B.ld, X.data.data(),
                             X.ld, &steps),
                  info);
        return X;
    }
    /// By gels in double precision.
    static Dense<T> wanted(Dense<T> A, const Dense<T>& B)
    {
        Dense<T> work(std::max(A.rows, A.cols), B.cols), X(A.cols, B.cols);
        for (Index j = 0; j < B.cols; ++j)
            for (Index i = 0; i < B.rows; ++i) work(i, j) = B(i, j);
        gels(session_on("sequential"), Op::none, A.rows, A.cols, B.cols, A.data.data(), A.ld, work.data.data(), work.ld);
        for (Index j = 0; j < B.cols; ++j)
            for (Index i = 0; i < A.cols; ++i) X(i, j) = work(i, j);
        return X;
    }
    /// Each column within so many eps of its largest element, and of what a right side of size 1 adds.
    static void expect_near(const Dense<T>& X, const Dense<T>& wanted, double eps_times, double right_side = 0)
    {
        for (Index j = 0; j < X.cols; ++j) {
            double most = right_side;
            for (Index i = 0; i < X.rows; ++i) most = std::max(most, double(std::abs(wanted(i, j))));
            for (Index i = 0; i < X.rows; ++i)
                EXPECT_LE(std::abs(X(i, j) - wanted(i, j)), eps_times * double(eps<T>) * most) << i << ", " << j;
        }
    }
    /// Columns that differ from the first by `difference` alone.
    static Dense<T> alike(Index m, Index n, double difference)
    {
        Dense<T> A = random_matrix<T>(m, n);
        for (Index j = 1; j < n; ++j)
            for (Index i = 0; i < m; ++i) A(i, j) = A(i, 0) + T(difference) * A(i, j);
        return A;
    }
};
using Wide = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(MixedLeastSquares, Wide);

/// Random matrices have conditions below some 1e3 for these shapes; the error of least squares goes with its square where the
/// residual is large.
TYPED_TEST(MixedLeastSquares, AreAsGoodAsInDoublePrecision)
{
    using T = TypeParam;
    for (const char* engine : engines)
        for (const auto& [m, n, nrhs] : {std::array<Index, 3>{300, 100, 1}, {700, 33, 3}, {40, 1, 2}, {530, 260, 5}, {1, 1, 1}}) {
            Dense<T> A = random_matrix<T>(m, n);
            const Dense<T> B = random_matrix<T>(m, nrhs), before = A, X = this->solved(A, B, engine);
            EXPECT_GE(this->steps, 1) << engine << ' ' << m << " x " << n;
            EXPECT_LE(this->steps, 12);
            this->expect_near(X, this->wanted(before, B), 3e3, 0.1);
            expect_same_bits(A, before);
        }
}

/// A right side that is nearly orthogonal to A: what rounding changes in x is more than x's own.
TYPED_TEST(MixedLeastSquares, FindASmallSolutionOfALargeResidual)
{
    using T = TypeParam;
    for (const Index n : {1, 6})
        for (const double part : {1e-3, 1e-6, 1e-9}) {
            Dense<T> A = random_matrix<T>(80, n), B = random_matrix<T>(80, 1);
            const Dense<T> x = this->wanted(A, B), before = A;
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < 80; ++i) B(i, 0) -= T(1 - part) * A(i, j) * x(j, 0);
            const Dense<T> X = this->solved(A, B), wanted = this->wanted(before, B);
            EXPECT_GE(this->steps, 1) << n << ' ' << part;
            for (Index i = 0; i < n; ++i) EXPECT_LE(std::abs(X(i, 0) - wanted(i, 0)), 3e3 * double(eps<T>)) << i << ' ' << part;
        }
}

/// With residuals as large as the right side, and conditions of some 50 / difference.
TYPED_TEST(MixedLeastSquares, AreAsGoodWhereColumnsAreAlike)
{
    using T = TypeParam;
    for (const double difference : {1e-2, 1e-3, 1e-4}) {
        Dense<T> A = this->alike(300, 20, difference);
        const Dense<T> B = random_matrix<T>(300, 2), before = A, X = this->solved(A, B);
        if (difference > 1e-4) { // below, rounding may keep steps from getting shorter
            EXPECT_GE(this->steps, 1) << difference;
        }
        this->expect_near(X, this->wanted(before, B), 3e3 / difference);
    }
}

TYPED_TEST(MixedLeastSquares, FindTheSolutionOfASystemThatHasOne)
{
    using T = TypeParam;
    for (const double difference : {1.0, 1e-2, 1e-3}) {
        Dense<T> A = this->alike(400, 20, difference);
        const Dense<T> wanted = random_matrix<T>(20, 2);
        Dense<T> B(400, 2);
        gemm(session_on("sequential"), Op::none, Op::none, Index(400), Index(2), Index(20), T(1), A.data.data(), A.ld,
             wanted.data.data(), wanted.ld, T(0), B.data.data(), B.ld);
        const Dense<T> X = this->solved(A, B);
        EXPECT_GE(this->steps, 1) << difference;
        this->expect_near(X, wanted, 3e3 / difference);
    }
}

TYPED_TEST(MixedLeastSquares, AreLeftToDoublePrecisionWhereSingleDoesNotDo)
{
    using T = TypeParam;
    struct Case {
        const char* what;
        int steps;
        Dense<T> A;
    };
    Dense<T> zero_column = random_matrix<T>(60, 8), large = random_matrix<T>(60, 8);
    for (Index i = 0; i < 60; ++i) zero_column(i, 3) = T(0);
    large(17, 4) = T(1e200);
    for (auto& [what, steps, A] : {Case{"condition 1e9", -3, this->alike(200, 12, 1e-9)},
                                   Case{"wide", -3, random_matrix<T>(10, 30)}, Case{"too large", -2, large}}) {
        const Dense<T> B = random_matrix<T>(A.rows, 2);
        Dense<T> mine = A;
        const Dense<T> X = this->solved(mine, B);
        EXPECT_EQ(this->steps, steps) << what;
        this->expect_near(X, this->wanted(A, B), 1e3);
    }
    const Dense<T> B = random_matrix<T>(60, 2);
    this->solved(zero_column, B, "native", 4);
    EXPECT_EQ(this->steps, -3);
}

TYPED_TEST(MixedLeastSquares, PassOnWhatIsNoNumber)
{
    using T = TypeParam;
    for (const Index at : {0, 7, 59}) {
        Dense<T> A = random_matrix<T>(60, 8), B = random_matrix<T>(60, 1), broken = B, broken_matrix = A;
        broken(at, 0) = T(NAN);
        EXPECT_TRUE(std::isnan(std::real(this->solved(A, broken)(0, 0))));
        EXPECT_LT(this->steps, 0);
        broken_matrix(at, 2) = T(NAN);
        EXPECT_TRUE(std::isnan(std::real(this->solved(broken_matrix, B)(2, 0))));
        EXPECT_LT(this->steps, 0);
    }
}

TYPED_TEST(MixedLeastSquares, TakeRightSidesOfAnySizeAndNone)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(90, 11);
    for (const double scale : {1e-290, 1e-40, 1e40, 1e290}) {
        Dense<T> B = random_matrix<T>(90, 2);
        for (Index i = 0; i < 90; ++i) B(i, 1) *= scale;
        this->expect_near(this->solved(A, B), this->wanted(A, B), 3e3);
        EXPECT_GE(this->steps, 1) << scale;
    }
    Dense<T> zero(90, 1);
    for (Index i = 0; i < 90; ++i) zero(i, 0) = T(0);
    const Dense<T> X = this->solved(A, zero);
    for (Index i = 0; i < 11; ++i) EXPECT_EQ(X(i, 0), T(0));
    EXPECT_EQ(this->steps, 1);
    EXPECT_EQ(gels_mixed(session_on("native"), Index(90), Index(11), Index(0), A.data.data(), A.ld,
                         static_cast<const T*>(nullptr), Index(90), static_cast<T*>(nullptr), Index(11), &this->steps),
              0);
    EXPECT_EQ(this->steps, 0);
}

/// What a step computes with goes with the size of A squared, and single precision ends at 1e38. B and x times A are the same.
TYPED_TEST(MixedLeastSquares, TakeMatricesOfAnySizeThatSinglePrecisionHas)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(90, 11), B = random_matrix<T>(90, 2), wanted = this->wanted(A, B);
    for (const int power : {-990, -200, -130, -75, -21, 21, 75, 120}) {
        Dense<T> scaled = A;
        for (Index j = 0; j < 11; ++j)
            for (Index i = 0; i < 90; ++i) scaled(i, j) *= std::ldexp(1.0, power);
        Dense<T> X = this->solved(scaled, B);
        if (power > -900) { // A^H r is beyond double precision
            EXPECT_GE(this->steps, 1) << power;
        }
        for (Index j = 0; j < 2; ++j)
            for (Index i = 0; i < 11; ++i) X(i, j) *= std::ldexp(1.0, power);
        this->expect_near(X, wanted, 3e3);
    }
}

TEST(MixedLeastSquaresArguments, AreNumbered)
{
    std::vector<double> a(12, 1), b(4, 1), x(3);
    const auto call = [&](Index m, Index n, Index lda, Index ldb, Index ldx) {
        gels_mixed(session_on("sequential"), m, n, Index(1), a.data(), lda, b.data(), ldb, x.data(), ldx);
    };
    EXPECT_NE(refusal(1, [&] { call(-1, 3, 4, 4, 3); }), "no error");
    EXPECT_NE(refusal(2, [&] { call(4, -3, 4, 4, 3); }), "no error");
    EXPECT_NE(refusal(5, [&] { call(4, 3, 3, 4, 3); }), "no error");
    EXPECT_NE(refusal(7, [&] { call(4, 3, 4, 3, 3); }), "no error");
    EXPECT_NE(refusal(9, [&] { call(4, 3, 4, 4, 2); }), "no error");
}

} // namespace
} // namespace trencadis
