#include "estimates/condition.hpp"

#include "blas/factorizations/lu.hpp"
#include "blas/level3/level3.hpp"
#include "blas/testing/reference.hpp"
#include "estimates/norms.hpp"
#include "estimates/safe_solve.hpp"

#include <cfenv>

namespace trencadis::estimates {
namespace {

using namespace blas::testing;

template <class T> class Conditions : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Conditions, Scalars);

/// A^-1 by our own trsm on the identity.
template <Scalar T> std::vector<T> identity(Index n)
{
    std::vector<T> I(std::size_t(n * n));
    for (Index i = 0; i < n; ++i) I[std::size_t(i + i * n)] = T(1);
    return I;
}
template <Scalar T> Real<T> norm_of(Norm which, Index n, const T* A, Index lda)
{
    return norm(which, Measured<T>::general(n, n, A, lda));
}
/// The estimate is never below the truth but for rounding, and was never more than three times it (Higham 1988, section 6, for
/// random ones).
template <Scalar T> void expect_estimate(Real<T> rcond, Real<T> truth)
{
    EXPECT_GE(rcond, truth * (1 - 500 * Real<T>(eps<T>)));
    EXPECT_LE(rcond, truth * 3);
}

TYPED_TEST(Conditions, OfRandomMatricesAreCloseToTheTruth)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(21);
    for (const Index n : {1, 2, 5, 40, 90})
        for (const Norm which : {Norm::one, Norm::inf}) {
            Stored<T> A = random_matrix<T>(random, n, n);
            for (Index i = 0; i < n; ++i) A(i, i) += T(R(2));
            const R anorm = norm_of(which, n, A.data.data(), A.ld);
            std::vector<Index> pivots(static_cast<std::size_t>(n));
            ASSERT_EQ(blas::getrf(n, n, A.data.data(), A.ld, pivots.data()), 0);
            std::vector<T> inverse = identity<T>(n);
            blas::laswp(n, inverse.data(), n, 0, n, pivots.data());
            blas::trsm(Side::left, Uplo::lower, Op::none, Diag::unit, n, n, T(1), A.data.data(), A.ld, inverse.data(), n);
            blas::trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), A.data.data(), A.ld, inverse.data(), n);
            R rcond = -7;
            ASSERT_EQ(gecon(which, n, A.data.data(), A.ld, anorm, &rcond), 0);
            expect_estimate<T>(rcond, 1 / anorm / norm_of(which, n, inverse.data(), n));
        }
}

TYPED_TEST(Conditions, OfTrianglesAndPositiveMatricesReadOneTriangle)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(22);
    for (const Index n : {1, 3, 34, 70})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
            for (const Diag diag : {Diag::unit, Diag::non_unit})
                for (const Norm which : {Norm::one, Norm::inf}) {
                    Stored<T> A = random_triangle<T>(random, uplo, n, diag);
                    for (T& a : A.data) a /= R(n);
                    for (Index i = 0; diag == Diag::non_unit && i < n; ++i) A(i, i) += T(1);
                    std::vector<T> inverse = identity<T>(n);
                    blas::trsm(Side::left, uplo, Op::none, diag, n, n, T(1), A.data.data(), A.ld, inverse.data(), n);
                    const R anorm = norm(which, Measured<T>::triangular(uplo, diag, n, n, A.data.data(), A.ld));
                    R rcond = -7;
                    ASSERT_EQ(trcon(which, uplo, diag, n, A.data.data(), A.ld, &rcond), 0);
                    expect_estimate<T>(rcond, 1 / anorm / norm_of(which, n, inverse.data(), n));
                }
            Stored<T> A = random_triangle<T>(random, uplo, n);
            for (Index i = 0; i < n; ++i) A(i, i) = T(std::real(A(i, i)) + R(2 * n));
            const R anorm = norm(Norm::one, Measured<T>::hermitian(uplo, n, A.data.data(), A.ld));
            ASSERT_EQ(blas::potrf(uplo, n, A.data.data(), A.ld), 0);
            std::vector<T> inverse = identity<T>(n);
            const bool lower = uplo == Uplo::lower;
            for (const bool second : {false, true})
                blas::trsm(Side::left, uplo, lower == second ? herm_op<T> : Op::none, Diag::non_unit, n, n, T(1), A.data.data(),
                           A.ld, inverse.data(), n);
            R rcond = -7;
            ASSERT_EQ(pocon(uplo, n, A.data.data(), A.ld, anorm, &rcond), 0);
            expect_estimate<T>(rcond, 1 / anorm / norm_of(Norm::one, n, inverse.data(), n));
        }
}

TYPED_TEST(Conditions, OfAPositiveMatrixOfWholeNumbersAreExact)
{
    using T = TypeParam;
    using R = Real<T>;
    const R factor[3][3] = {
        {1, 0, 0}, {2, 1, 0}, {0, 4, 1}}; // (L L^T)^-1 has a column 69, -34, 8, the longest; (L^T L)^-1 has not
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        T A[9] = {};
        for (Index j = 0; j < 3; ++j)
            for (Index i = j; i < 3; ++i) A[uplo == Uplo::lower ? i + 3 * j : j + 3 * i] = T(factor[i][j]);
        R rcond = -7;
        ASSERT_EQ(pocon(uplo, 3, A, 3, R(2), &rcond), 0);
        EXPECT_NEAR(double(rcond), 1.0 / 222, 4 * eps<T>);
    }
}

TYPED_TEST(Conditions, DoNotDependOnTheScaleOfTheMatrix)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(23);
    const Index n = 20;
    Stored<T> A = random_triangle<T>(random, Uplo::upper, n);
    for (Index i = 0; i < n; ++i) A(i, i) += T(2);
    R plain = 0;
    trcon(Norm::one, Uplo::upper, Diag::non_unit, n, A.data.data(), A.ld, &plain);
    for (const int exponent : {std::numeric_limits<R>::max_exponent - 12, std::numeric_limits<R>::min_exponent + 12}) {
        Stored<T> B = A;
        for (T& value : B.data) value *= std::ldexp(R(1), exponent);
        R scaled = 0;
        EXPECT_EQ(trcon(Norm::one, Uplo::upper, Diag::non_unit, n, B.data.data(), B.ld, &scaled), 0);
        EXPECT_NEAR(scaled / plain, 1, 100 * double(eps<T>)) << exponent;
    }
}

TYPED_TEST(Conditions, AreZeroOfWhatIsSingular)
{
    using T = TypeParam;
    using R = Real<T>;
    const Index n = 6;
    for (Index zero = 0; zero < n; ++zero) {
        Stored<T> A(n, n, 0);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) A(i, j) = T(i == j && i == zero ? R(0) : R(1));
        R rcond = -7;
        EXPECT_EQ(gecon(Norm::one, n, A.data.data(), A.ld, R(6), &rcond), 0);
        EXPECT_EQ(rcond, 0);
        EXPECT_EQ(pocon(Uplo::lower, n, A.data.data(), A.ld, R(6), &(rcond = -7)), 0);
        EXPECT_EQ(rcond, 0);
        EXPECT_EQ(trcon(Norm::inf, Uplo::upper, Diag::non_unit, n, A.data.data(), A.ld, &(rcond = -7)), 0);
        EXPECT_EQ(rcond, 0);
    }
}

TYPED_TEST(Conditions, OfNothingAndWithNormsThatAreNoNumbersAreLapacks)
{
    using T = TypeParam;
    using R = Real<T>;
    const T a[4] = {T(1), T(0), T(0), T(1)};
    constexpr R nan = std::numeric_limits<R>::quiet_NaN(), inf = std::numeric_limits<R>::infinity();
    R rcond = -7;
    EXPECT_EQ(gecon(Norm::one, 0, a, 1, nan, &rcond), 0);
    EXPECT_EQ(rcond, 1);
    EXPECT_EQ(gecon(Norm::one, 2, a, 2, R(0), &rcond), 0);
    EXPECT_EQ(rcond, 0);
    EXPECT_EQ(gecon(Norm::one, 2, a, 2, nan, &rcond), -5);
    EXPECT_TRUE(std::isnan(rcond));
    EXPECT_EQ(gecon(Norm::one, 2, a, 2, inf, &rcond), -5);
    EXPECT_EQ(rcond, 0);
    EXPECT_EQ(gecon(Norm::one, 2, a, 2, std::numeric_limits<R>::denorm_min(), &rcond), 1) << "its inverse has overflowed";
    EXPECT_EQ(pocon(Uplo::lower, 2, a, 2, nan, &rcond), 0);
    EXPECT_TRUE(std::isnan(rcond));
    EXPECT_EQ(pocon(Uplo::lower, 0, a, 1, R(3), &rcond), 0);
    EXPECT_EQ(rcond, 1);
    EXPECT_EQ(trcon(Norm::one, Uplo::lower, Diag::unit, 0, a, 1, &rcond), 0);
    EXPECT_EQ(rcond, 1);
    EXPECT_EQ(trcon(Norm::one, Uplo::lower, Diag::unit, 2, a, 2, &rcond), 0);
    EXPECT_EQ(rcond, 1);
}

TYPED_TEST(Conditions, EndWithANaNInAnyPlace)
{
    using T = TypeParam;
    using R = Real<T>;
    const Index n = 5;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            Stored<T> A(n, n, 1);
            for (Index q = 0; q < n; ++q)
                for (Index p = 0; p < n; ++p) A(p, q) = T(p == q ? R(4) : R(1));
            A(i, j) = not_a_number<T>();
            R rcond = -7;
            EXPECT_EQ(gecon(Norm::one, n, A.data.data(), A.ld, R(8), &rcond), 1) << i << j;
            EXPECT_TRUE(std::isnan(rcond)) << i << j;
            EXPECT_EQ(pocon(i >= j ? Uplo::lower : Uplo::upper, n, A.data.data(), A.ld, R(8), &rcond), 0);
            EXPECT_TRUE(std::isnan(rcond)) << i << j;
            A(i, j) = T(std::numeric_limits<R>::infinity());
            EXPECT_GE(gecon(Norm::one, n, A.data.data(), A.ld, R(8), &rcond), 0);
        }
}

/// A Fortran program may have exceptions trapped that LAPACK does not raise.
TYPED_TEST(Conditions, AndNormsAreFoundWhereExceptionsAreTrapped)
{
    using T = TypeParam;
    using R = Real<T>;
    const int all = FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO;
    std::feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(all) == -1 || fegetexcept() != all) GTEST_SKIP() << "this processor traps nothing";
    const Index n = 40;
    Stored<T> A(n, n, 0);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            A(i, j) = T(i == j ? std::numeric_limits<R>::min() : std::numeric_limits<R>::max() / (4 * n));
    R rcond = -7;
    EXPECT_EQ(gecon(Norm::one, n, A.data.data(), A.ld, R(1), &rcond), 0);
    EXPECT_EQ(rcond, 0);
    A(7, 7) = T(0);
    EXPECT_EQ(trcon(Norm::one, Uplo::upper, Diag::non_unit, n, A.data.data(), A.ld, &rcond), 0);
    EXPECT_EQ(rcond, 0);
    const R small = std::numeric_limits<R>::min() / 100; // whose inverse is beyond the numbers
    const T tiny[4] = {T(small), T(0), T(small / 10), T(small)};
    EXPECT_EQ(trcon(Norm::one, Uplo::upper, Diag::non_unit, Index(2), tiny, Index(2), &rcond), 0);
    EXPECT_EQ(rcond, 0);
    EXPECT_TRUE(std::isfinite(norm(Norm::frobenius, Measured<T>::general(n, n, A.data.data(), A.ld))));
    EXPECT_EQ(fegetexcept(), all);
    fedisableexcept(all);
}

/// Solutions that are beyond the numbers on the way, and come back with U.
TYPED_TEST(Conditions, AreFoundWhereSolutionsAreBeyondTheNumbersOnTheWay)
{
    using T = TypeParam;
    using R = Real<T>;
    const Index n = 8;
    const int half = std::numeric_limits<R>::max_exponent / 2 + 4; // two steps of it are beyond
    Stored<T> L(n, n, 0), U(n, n, 0);
    for (Index i = 0; i < n; ++i) L(i, i) = T(1), U(i, i) = T(1);
    for (Index i = 1; i < 3; ++i) L(i, i) = T(std::ldexp(R(1), -half)), U(i, i) = T(std::ldexp(R(1), half));
    L(1, 0) = T(1), L(2, 1) = T(1);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            if (i > j && !(i == j + 1 && j < 2)) L(i, j) = T(0);
            if (i < j) U(i, j) = T(0);
        }
    std::vector<T> room(static_cast<std::size_t>(n));
    SafeSolve<T> solve(n, room.data());
    std::vector<T> x(std::size_t(n), T(1));
    ASSERT_TRUE(solve(x.data(), {{Uplo::lower, Op::none, Diag::non_unit, n, L.data.data(), L.ld},
                                 {Uplo::upper, Op::none, Diag::non_unit, n, U.data.data(), U.ld}}));
    // By hand: x0 = 1, L: x1 = 0, x2 = (1 - 0) 2^half, then U.
    EXPECT_EQ(x[0], T(1));
    EXPECT_EQ(x[1], T(0));
    EXPECT_EQ(x[2], T(1));
    x.assign(std::size_t(n), T(1));
    x[0] = T(2); // now x1 = -2^half and x2 = (1 + 2^half) 2^half, which is no number; U brings it back to 2^half
    ASSERT_TRUE(solve(x.data(), {{Uplo::lower, Op::none, Diag::non_unit, n, L.data.data(), L.ld},
                                 {Uplo::upper, Op::none, Diag::non_unit, n, U.data.data(), U.ld}}));
    EXPECT_EQ(x[1], T(-1));
    EXPECT_EQ(x[2], T(std::ldexp(R(1), half)));
    x.assign(std::size_t(n), T(1));
    x[0] = T(2);
    EXPECT_FALSE(solve(x.data(), {{Uplo::lower, Op::none, Diag::non_unit, n, L.data.data(), L.ld}})) << "it stays beyond";
}

} // namespace
} // namespace trencadis::estimates
