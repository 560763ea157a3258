#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;

Session& native()
{
    static Session session;
    return session;
}

template <class T> class MixedPrecision : public ::testing::Test {
protected:
    static constexpr Index n = 150, nrhs = 3;
    Dense<T> B = random_matrix<T>(n, nrhs), X{n, nrhs};
    std::vector<Index> ipiv = std::vector<Index>(std::size_t(n), 0);
    int steps = -100;

    Index solve(Dense<T>& A)
    {
        return gesv_mixed(native(), n, nrhs, A.data.data(), A.ld, ipiv.data(), B.data.data(), B.ld, X.data.data(), X.ld, &steps);
    }
    /// As small as the loop promises, sqrt(n) eps/2 ||A|| |x|, where it made steps; a factorization in double precision leaves
    /// less than n times that (Higham, theorem 9.4, with growth as observed).
    void expect_solved(const Dense<T>& A)
    {
        double norm = 0;
        for (Index i = 0; i < n; ++i) {
            double row = 0;
            for (Index j = 0; j < n; ++j) row += std::abs(A(i, j));
            norm = std::max(norm, row);
        }
        // The rows below the solution are as they were.
        expect_untouched(Dense<T>(n, nrhs), X, [](Index, Index) { return true; });
        for (Index c = 0; c < nrhs; ++c) {
            double most = 0;
            for (Index i = 0; i < n; ++i) most = std::max(most, std::abs(X(i, c)));
            for (Index i = 0; i < n; ++i) {
                Sum<T> sum;
                for (Index k = 0; k < n; ++k) sum.add(A(i, k), X(k, c));
                ASSERT_LE(double(std::abs(sum.value - Wide<T>(B(i, c)))), 2 * double(n) * double(eps<T>) * norm * most);
            }
        }
    }
};
using Scalars = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(MixedPrecision, Scalars);

TYPED_TEST(MixedPrecision, LeavesTheMatrixAndReachesDoublePrecision)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(this->n, this->n);
    for (Index i = 0; i < this->n; ++i) A(i, i) += T(20);
    const Dense<T> before = A;
    EXPECT_EQ(this->solve(A), 0);
    EXPECT_GE(this->steps, 1);
    EXPECT_LE(this->steps, 4);
    expect_same_bits(A, before);
    this->expect_solved(before);
}

TYPED_TEST(MixedPrecision, FallsBackAndSaysWhy)
{
    using T = TypeParam;
    const auto check = [&](Dense<T> A, int why) {
        const Dense<T> before = A;
        EXPECT_EQ(this->solve(A), 0);
        EXPECT_EQ(this->steps, why);
        this->expect_solved(before);
    };
    Dense<T> A = random_matrix<T>(this->n, this->n);
    A(3, 4) = T(1e39); // beyond single precision
    std::feclearexcept(FE_ALL_EXCEPT);
    check(A, -2);
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW | FE_INVALID), 0); // LAPACK compares before it converts
    A(3, 4) = T(1e160);                                        // its square is beyond double precision
    check(A, -2);
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW | FE_INVALID), 0);
    A = random_matrix<T>(this->n, this->n);
    for (Index i = 0; i < this->n; ++i) A(i, 7) = A(i, 7) * 1e-50; // zeros there
    check(A, -3);
    A = random_matrix<T>(this->n, this->n);
    for (Index i = 0; i < this->n; ++i) A(i, 9) = A(i, 8) + 1e-9 * A(i, 10); // equal there but for rounding
    check(A, -31);
}

TYPED_TEST(MixedPrecision, TakesVariantsOfTheFactorizationAndNoInfinityForASolution)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(this->n, this->n);
    for (Index i = 0; i < this->n; ++i) A(i, i) += T(20);
    EXPECT_EQ(gesv_mixed(native(), this->n, this->nrhs, A.data.data(), A.ld, this->ipiv.data(), this->B.data.data(), this->B.ld,
                         this->X.data.data(), this->X.ld, &this->steps, {.nb = 32, .variant = "panel"}),
              0);
    EXPECT_GE(this->steps, 1);
    T tiny(2e-30), large(2e30), x(0);
    Index pivot = 0;
    EXPECT_EQ(gesv_mixed(native(), Index(1), Index(1), &tiny, Index(1), &pivot, &large, Index(1), &x, Index(1), &this->steps), 0);
    EXPECT_LT(this->steps, 0);
    EXPECT_NEAR(std::abs(x), 1e60, 1e46);
}

TYPED_TEST(MixedPrecision, TellsOfAZeroPivotInDoublePrecision)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(this->n, this->n);
    for (Index i = 0; i < this->n; ++i) A(i, 0) = T(0);
    const Dense<T> before = this->X;
    EXPECT_EQ(this->solve(A), 1);
    EXPECT_EQ(this->steps, -3);
    expect_same_bits(this->X, before);
}

TYPED_TEST(MixedPrecision, SolvesPositiveDefiniteSystemsFromOneTriangle)
{
    using T = TypeParam;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        Dense<T> A = random_triangle<T>(uplo, this->n, 2.0 * double(this->n)), full(this->n, this->n);
        for (Index j = 0; j < this->n; ++j)
            for (Index i = 0; i < this->n; ++i) full(i, j) = in_triangle(uplo, i, j) ? A(i, j) : conjugate(A(j, i));
        const Dense<T> before = A;
        EXPECT_EQ(posv_mixed(native(), uplo, this->n, this->nrhs, A.data.data(), A.ld, this->B.data.data(), this->B.ld,
                             this->X.data.data(), this->X.ld, &this->steps),
                  0);
        EXPECT_GE(this->steps, 1);
        expect_same_bits(A, before);
        this->expect_solved(full);
        A(5, 5) = T(-1);
        EXPECT_EQ(posv_mixed(native(), uplo, this->n, this->nrhs, A.data.data(), A.ld, this->B.data.data(), this->B.ld,
                             this->X.data.data(), this->X.ld, &this->steps),
                  6);
        EXPECT_EQ(this->steps, -3);
    }
}

/// Q1 D Q2 with reflections Q and D from 1 to 1 / `condition`; positive definite where Q2 is Q1.
template <class T> Dense<T> ill_conditioned(Index n, double condition, bool positive)
{
    Dense<T> A(n, n), u = random_matrix<T>(n, 1), v = positive ? u : random_matrix<T>(n, 1);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) A(i, j) = i == j ? T(std::pow(condition, -double(i) / double(n - 1))) : T(0);
    const auto reflect = [&](const Dense<T>& w, bool left) {
        double length = 0;
        for (Index i = 0; i < n; ++i) length += std::norm(w(i, 0));
        for (Index j = 0; j < n; ++j) {
            T sum = T(0);
            for (Index i = 0; i < n; ++i) sum += left ? conjugate(w(i, 0)) * A(i, j) : A(j, i) * w(i, 0);
            for (Index i = 0; i < n; ++i)
                if (left) A(i, j) -= w(i, 0) * sum * (2 / length);
                else A(j, i) -= sum * conjugate(w(i, 0)) * (2 / length);
        }
    };
    reflect(u, true);
    reflect(v, false);
    for (Index j = 0; positive && j < n; ++j)
        for (Index i = 0; i <= j; ++i) A(i, j) = i == j ? T(std::real(A(i, j))) : conjugate(A(j, i));
    return A;
}

TYPED_TEST(MixedPrecision, ConvergesByMinimalResidualsWherePlainStepsDoNot)
{
    using T = TypeParam;
    for (const double condition : {1e3, 1e9, 1e10, 1e12})
        for (const bool positive : {false, true})
            for (const bool gmres : {false, true}) {
                if (positive && condition > 1e10) continue; // in single precision it is far from definite
                SCOPED_TRACE(std::to_string(condition) + (positive ? " positive" : " general") + (gmres ? " gmres" : ""));
                Dense<T> A = ill_conditioned<T>(this->n, condition, positive);
                const Dense<T> before = A;
                const RoutineOptions options{.variant = gmres ? "gmres" : ""};
                const Index info =
                    positive
                        ? posv_mixed(native(), Uplo::lower, this->n, this->nrhs, A.data.data(), A.ld, this->B.data.data(),
                                     this->B.ld, this->X.data.data(), this->X.ld, &this->steps, options)
                        : gesv_mixed(native(), this->n, this->nrhs, A.data.data(), A.ld, this->ipiv.data(), this->B.data.data(),
                                     this->B.ld, this->X.data.data(), this->X.ld, &this->steps, options);
                EXPECT_EQ(info, 0);
                if (gmres || condition < 1e6) {
                    EXPECT_GE(this->steps, 0);
                    EXPECT_LE(this->steps, 5);
                    expect_same_bits(A, before);
                } else if (condition > 1e11) {
                    EXPECT_LT(this->steps, 0) << "it falls back"; // below that some converge by luck
                }
                this->expect_solved(before);
            }
}

/// Their squares are beyond double precision; LAPACK's loop never has squares.
TYPED_TEST(MixedPrecision, ConvergesByMinimalResidualsForSmallRightSides)
{
    using T = TypeParam;
    Dense<T> A = ill_conditioned<T>(this->n, 1e8, false);
    for (const double size : {1e-165, 1e-200, 1e-280}) {
        for (Index j = 0; j < this->nrhs; ++j)
            for (Index i = 0; i < this->n; ++i) this->B(i, j) = random_scalar<T>() * size;
        EXPECT_EQ(gesv_mixed(native(), this->n, this->nrhs, A.data.data(), A.ld, this->ipiv.data(), this->B.data.data(),
                             this->B.ld, this->X.data.data(), this->X.ld, &this->steps, {.variant = "gmres"}),
                  0);
        EXPECT_GE(this->steps, 0) << size;
        this->expect_solved(A);
    }
}

TYPED_TEST(MixedPrecision, ByMinimalResidualsFallsBackAsWell)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(this->n, this->n);
    for (Index i = 0; i < this->n; ++i) A(i, 7) = A(i, 7) * 1e-50; // zeros there
    const Dense<T> before = A;
    EXPECT_EQ(gesv_mixed(native(), this->n, this->nrhs, A.data.data(), A.ld, this->ipiv.data(), this->B.data.data(), this->B.ld,
                         this->X.data.data(), this->X.ld, &this->steps, {.variant = "gmres"}),
              0);
    EXPECT_EQ(this->steps, -3);
    this->expect_solved(before);
    EXPECT_THROW(gesv_mixed(native(), this->n, this->nrhs, A.data.data(), A.ld, this->ipiv.data(), this->B.data.data(),
                            this->B.ld, this->X.data.data(), this->X.ld, &this->steps, {.variant = "gmr"}),
                 Error);
}

} // namespace
} // namespace trencadis
