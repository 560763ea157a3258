#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;

Session& with_engine(const std::string& engine)
{
    static Session native, sequential([] {
        SessionOptions options;
        options.engine = "sequential";
        return options;
    }());
    return engine == "native" ? native : sequential;
}

/// An element of the triangle with zeros, or the ones of a unit diagonal, around it.
template <Scalar T> T element(const Dense<T>& A, Uplo uplo, Diag diag, Index i, Index j)
{
    if (i == j && diag == Diag::unit) return T(1);
    return in_triangle(uplo, i, j) ? A(i, j) : T(0);
}
/// A Hermitian matrix from the triangle.
template <Scalar T> T mirrored(const Dense<T>& A, Uplo uplo, Index i, Index j)
{
    return in_triangle(uplo, i, j) ? A(i, j) : conjugate(A(j, i));
}

/// Random and well conditioned: the diagonal is 2 to 4, the sum of what stands beside it below 1.
template <Scalar T> Dense<T> triangle(Uplo uplo, Index n)
{
    Dense<T> A = random_triangle<T>(uplo, n, 3);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            if (i != j && in_triangle(uplo, i, j)) A(i, j) /= Real<T>(2 * n);
    return A;
}

template <class T> class Inverses : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Inverses, Scalars);

constexpr Index sizes[] = {0, 1, 2, 16, 17, 33, 70};

/// Every triangle, size, tile size and engine; tiles of 0 are chosen by the routine, on the calling thread for most of these
/// sizes.
template <class Check> void in_all_ways(const Check& check)
{
    for (const char* engine : {"native", "sequential"})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : sizes)
                for (const Index nb : {0, 16, 32}) {
                    SCOPED_TRACE(std::string(engine) + " " + char(uplo) + " n = " + std::to_string(n) +
                                 " nb = " + std::to_string(nb));
                    check(with_engine(engine), uplo, n, RoutineOptions{.nb = nb});
                }
}

TYPED_TEST(Inverses, OfTrianglesTimesTheTriangleAreTheIdentity)
{
    using T = TypeParam;
    in_all_ways([](Session& session, Uplo uplo, Index n, const RoutineOptions& options) {
        for (const Diag diag : {Diag::non_unit, Diag::unit}) {
            const Dense<T> A = triangle<T>(uplo, n);
            Dense<T> X = A;
            ASSERT_EQ(trtri(session, uplo, diag, n, X.data.data(), X.ld, options), 0);
            expect_untouched(A, X,
                             [&](Index i, Index j) { return in_triangle(uplo, i, j) && (i != j || diag == Diag::non_unit); });
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) {
                    Sum<T> left, right;
                    for (Index k = 0; k < n; ++k) {
                        left.add(element(X, uplo, diag, i, k), element(A, uplo, diag, k, j));
                        right.add(element(A, uplo, diag, i, k), element(X, uplo, diag, k, j));
                    }
                    // One of the two residuals is bounded entrywise for each way to compute an inverse (Higham, section 14.2), by
                    // tiles both are by |L| |X| |L| |X|, whose entries are below 4 |L| |X| for these matrices.
                    const Wide<T> one = i == j ? 1 : 0;
                    expect_within(T(one), left.value, 1 + 4 * left.magnitude, 3.0 * double(n), "X A");
                    expect_within(T(one), right.value, 1 + 4 * right.magnitude, 3.0 * double(n), "A X");
                }
        }
    });
}

TYPED_TEST(Inverses, ProductsOfATriangleWithItselfAreTheDefinition)
{
    using T = TypeParam;
    in_all_ways([](Session& session, Uplo uplo, Index n, const RoutineOptions& options) {
        const Dense<T> A = random_triangle<T>(uplo, n, 0);
        Dense<T> X = A;
        ASSERT_EQ(lauum(session, uplo, n, X.data.data(), X.ld, options), 0);
        expect_untouched(A, X, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                if (!in_triangle(uplo, i, j)) continue;
                Sum<T> sum; // L^H L, or U U^H
                for (Index k = std::max(i, j); k < n; ++k)
                    if (uplo == Uplo::lower) sum.add(conjugate(A(k, i)), A(k, j));
                    else sum.add(A(i, k), conjugate(A(j, k)));
                expect_within(X(i, j), sum.value, sum.magnitude, double(n), "lauum");
            }
    });
}

TYPED_TEST(Inverses, OfPositiveDefiniteMatricesTimesTheMatrixAreTheIdentity)
{
    using T = TypeParam;
    in_all_ways([](Session& session, Uplo uplo, Index n, const RoutineOptions& options) {
        const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2));
        Dense<T> X = A;
        ASSERT_EQ(potrf(session, uplo, n, X.data.data(), X.ld, options), 0);
        ASSERT_EQ(potri(session, uplo, n, X.data.data(), X.ld, options), 0);
        expect_untouched(A, X, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                Sum<T> sum;
                for (Index k = 0; k < n; ++k) sum.add(mirrored(A, uplo, i, k), mirrored(X, uplo, k, j));
                // Higham, section 14.4: within the condition, which is below 3 here, of what a residual of the factor has.
                expect_within(T(i == j), sum.value, 3 * (1 + sum.magnitude), 8.0 * double(n), "A X");
            }
    });
}

TYPED_TEST(Inverses, OfTrianglesWithAZeroOnTheDiagonalAreNotBegun)
{
    using T = TypeParam;
    for (const Index nb : {0, 16}) {
        Dense<T> A = triangle<T>(Uplo::lower, 50);
        A(41, 41) = A(20, 20) = T(0);
        Dense<T> X = A;
        EXPECT_EQ(trtri(with_engine("native"), Uplo::lower, Diag::non_unit, 50, X.data.data(), X.ld, {.nb = nb}), 21);
        expect_same_bits(A, X);
        EXPECT_EQ(potri(with_engine("native"), Uplo::lower, 50, X.data.data(), X.ld, {.nb = nb}), 21);
        expect_same_bits(A, X);
        EXPECT_EQ(trtri(with_engine("native"), Uplo::lower, Diag::unit, 50, X.data.data(), X.ld, {.nb = nb}), 0);
    }
}

} // namespace
} // namespace trencadis
