#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;

Session& session()
{
    static Session made;
    return made;
}

template <class T> class Estimates : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Estimates, Scalars);

TYPED_TEST(Estimates, OfNormsThatWorkersShareAreThoseOfOneCore)
{
    using T = TypeParam;
    const Index m = 700, n = 900; // several parts
    const Dense<T> A = random_matrix<T>(m, n), S = random_matrix<T>(n, n);
    const T *const a = A.data.data(), *const s = S.data.data();
    for (const Norm which : {Norm::max, Norm::one, Norm::inf, Norm::frobenius}) {
        const auto expect_same = [&](Real<T> shared, Real<T> alone) {
            EXPECT_NEAR(shared / alone, 1, 1000 * double(eps<T>)) << char(which); // sums of rows in another order
        };
        expect_same(lange(session(), which, m, n, a, A.ld), alone::lange(which, m, n, a, A.ld));
        for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
            expect_same(lansy(session(), which, uplo, n, s, S.ld), alone::lansy(which, uplo, n, s, S.ld));
            expect_same(lanhe(session(), which, uplo, n, s, S.ld), alone::lanhe(which, uplo, n, s, S.ld));
            expect_same(lantr(session(), which, uplo, Diag::unit, m, n, a, A.ld),
                        alone::lantr(which, uplo, Diag::unit, m, n, a, A.ld));
        }
    }
}

TYPED_TEST(Estimates, OfTriangularSystemsAreTheSolutionInAnyTiles)
{
    using T = TypeParam;
    for (const Index nb : {0, 16})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                for (const Index n : {0, 1, 15, 16, 17, 50}) {
                    const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(n + 2)), B = random_matrix<T>(n, 3);
                    Dense<T> X = B;
                    ASSERT_EQ(trtrs(session(), uplo, op, Diag::non_unit, n, Index(3), A.data.data(), A.ld, X.data.data(), X.ld,
                                    {.nb = nb}),
                              0);
                    for (Index j = 0; j < 3; ++j)
                        for (Index i = 0; i < n; ++i) {
                            Sum<T> sum;
                            for (Index l = 0; l < n; ++l)
                                if (in_triangle(uplo, op == Op::none ? i : l, op == Op::none ? l : i))
                                    sum.add(A.at(op, i, l), X(l, j));
                            // Higham, theorem 8.5, twice: kernels multiply by reciprocals of the diagonal
                            expect_within(B(i, j), sum.value, 2 * sum.magnitude, double(n), "trtrs");
                        }
                }
}

TYPED_TEST(Estimates, OfOneRightSideAreSolvedByThemselvesToo)
{
    using T = TypeParam;
    const Index n = 300; // large enough for tasks, which one vector does not get
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(n)), B = random_matrix<T>(n, 1);
        const T alpha = T(Real<T>(-0.5));
        Dense<T> X = B;
        trsm(session(), Side::left, uplo, Op::none, Diag::non_unit, n, Index(1), alpha, A.data.data(), A.ld, X.data.data(), X.ld);
        for (Index i = 0; i < n; ++i) {
            Sum<T> sum;
            for (Index l = 0; l < n; ++l)
                if (in_triangle(uplo, i, l)) sum.add(A(i, l), X(l, 0));
            expect_within(alpha * B(i, 0), sum.value, 2 * sum.magnitude, double(n), "trsm"); // Higham, theorem 8.5
        }
        expect_untouched(B, X, [](Index, Index) { return true; });
        trsm(session(), Side::left, uplo, Op::none, Diag::non_unit, n, Index(1), T(0), static_cast<const T*>(A.data.data()), A.ld,
             X.data.data(), X.ld);
        for (Index i = 0; i < n; ++i) EXPECT_EQ(X(i, 0), T(0));
    }
}

TEST(EstimatesVariants, OfTriangularSystemsAreThoseOfTrsm)
{
    EXPECT_EQ(default_variant(session(), "trtrs"), default_variant(session(), "trsm"));
    EXPECT_EQ(variants_of("trtrs"), variants_of("trsm"));
}

TYPED_TEST(Estimates, OfSingularTrianglesAreNotBegun)
{
    using T = TypeParam;
    for (const Index nb : {0, 16}) {
        Dense<T> A = random_triangle<T>(Uplo::upper, 40, 5), B = random_matrix<T>(40, 3);
        A(30, 30) = A(17, 17) = T(0);
        Dense<T> X = B;
        const auto solve = [&](Diag diag) {
            return trtrs(session(), Uplo::upper, Op::none, diag, Index(40), Index(3), A.data.data(), A.ld, X.data.data(), X.ld,
                         {.nb = nb});
        };
        EXPECT_EQ(solve(Diag::non_unit), 18);
        expect_same_bits(B, X);
        EXPECT_EQ(solve(Diag::unit), 0);
    }
}

/// The number of the argument that is refused.
template <class Call> int refused(const Call& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.argument();
    }
    return 0;
}

TEST(EstimatesArguments, AreNumberedAsInLapack)
{
    const double a[4] = {1, 0, 0, 1}, *const null = nullptr;
    double b[4] = {}, rcond = 0;
    Session& s = session();
    EXPECT_EQ(refused([&] { lange(s, Norm::one, -1, 2, a, 2); }), 2);
    EXPECT_EQ(refused([&] { lange(s, Norm::one, 2, 2, a, 1); }), 5);
    EXPECT_EQ(refused([&] { lange(s, Norm::one, 2, 2, null, 2); }), 4);
    EXPECT_EQ(refused([&] { lansy(s, Norm::one, Uplo::lower, -1, a, 2); }), 3);
    EXPECT_EQ(refused([&] { lantr(s, Norm::one, Uplo::lower, Diag::unit, 2, 2, a, 1); }), 7);
    EXPECT_EQ(refused([&] { gecon(s, Norm::max, 2, a, 2, 1.0, &rcond); }), 1);
    EXPECT_EQ(refused([&] { gecon(s, Norm::one, 2, a, 1, 1.0, &rcond); }), 4);
    EXPECT_EQ(refused([&] { gecon(s, Norm::one, 2, a, 2, -1.0, &rcond); }), 5);
    EXPECT_EQ(refused([&] { gecon(s, Norm::one, 2, a, 2, 1.0, static_cast<double*>(nullptr)); }), 6);
    EXPECT_EQ(refused([&] { trcon(s, Norm::frobenius, Uplo::lower, Diag::unit, 2, a, 2, &rcond); }), 1);
    EXPECT_EQ(refused([&] { trtrs(s, Uplo::lower, Op::none, Diag::unit, 2, 2, a, 2, b, 1); }), 9);
    const Index outside[] = {1, 3};
    double ferr[2], berr[2];
    EXPECT_EQ(refused([&] { gerfs(s, Op::none, 2, 1, a, 2, a, 2, outside, a, 2, b, 2, ferr, berr); }), 8);
    EXPECT_EQ(refused([&] { porfs(s, Uplo::lower, 2, 1, a, 2, a, 2, a, 2, b, 1, ferr, berr); }), 11);
    EXPECT_EQ(refused([&] { porfs(s, Uplo::lower, 2, 1, a, 2, a, 2, b, 2, b, 2, ferr, berr); }), 10) << "X is B";
}

} // namespace
} // namespace trencadis
