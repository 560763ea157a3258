#include "drivers/linear_algebra.hpp"

#include "blas/level3/past_triangle.hpp"
#include "blas/level3/product.hpp"
#include "drivers/alone.hpp"
#include "drivers/testing/sharing_crews.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace trencadis {
namespace {

using namespace testing;

/// A part for each worker, none of one or two columns, which would be solved for one by one. All of the triangle stays in the
/// second cache.
template <Scalar T> void expect_triangles_beside_few(Side side, Uplo uplo, Op op, Index others, Index parts)
{
    constexpr Index order = 248; // beside nine and more worth sharing, beside eight not
    const bool left = side == Side::left;
    const Index m = left ? order : others, n = left ? others : order;
    std::vector<T> A = random_numbers<T>(order * order);
    for (Index i = 0; i < order; ++i) A[std::size_t(i * (order + 1))] = T(order);
    const std::vector<T> B = random_numbers<T>(m * n);
    const auto both = [&](auto&& crew) {
        std::vector<T> X = B;
        trsm(crew, side, uplo, op, Diag::non_unit, m, n, T(2), A.data(), order, X.data(), m);
        if constexpr (requires { crew.shared; }) EXPECT_EQ(std::exchange(crew.shared, 0), parts) << "trsm, " << others;
        trmm(crew, side, uplo, op, Diag::non_unit, m, n, T(2), A.data(), order, X.data(), m);
        if constexpr (requires { crew.shared; }) EXPECT_EQ(crew.shared, parts) << "trmm, " << others;
        return X;
    };
    const std::vector<T> X = both(SharingCrew({}));
    EXPECT_EQ(X, both(SmallCrew(2))) << others << " beside " << char(side) << char(uplo) << char(op);
    EXPECT_EQ(X, both(SmallCrew(1))) << others << " beside " << char(side) << char(uplo) << char(op);
}

TEST(StructuredProducts, WithATriangleBesideFewAreMadeInParts)
{
    const blas::MicroKernel<double>& kernel = blas::setup<double>(0).kernel;
    const Index panel = kernel.nr, rows = kernel.step, narrower = kernel.narrowest < panel ? 2 : 0;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans}) {
            expect_triangles_beside_few<double>(Side::left, uplo, op, 7 * panel, 2);
            expect_triangles_beside_few<double>(Side::left, uplo, op, panel, 0);
            // Two panels, and one column, or a panel and two columns, and seven.
            expect_triangles_beside_few<double>(Side::left, uplo, op, 2 * panel + 1, narrower);
            expect_triangles_beside_few<double>(Side::right, uplo, op, std::max<Index>(3 * rows, 12), 2);
            expect_triangles_beside_few<double>(Side::right, uplo, op, rows, 0);
        }
}

/// Of a large triangle the caller and another one read their parts, for each right side; of a small one the caller reads all.
TEST(StructuredProducts, SolveForOneOrTwoRightSidesTogether)
{
    const auto shared_by = [](Index n, Index nrhs, Uplo uplo, Op op) {
        std::vector<double> A = random_numbers<double>(n * n);
        for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = double(n);
        const std::vector<double> B = random_numbers<double>(n * nrhs);
        TwoCrew two;
        SmallCrew one(1);
        std::vector<double> X = B, alone = B;
        for (const auto& [crew, x] : {std::pair<Crew&, std::vector<double>&>{two, X}, {one, alone}})
            trsm(crew, Side::left, uplo, op, Diag::non_unit, n, nrhs, 3.0, A.data(), n, x.data(), n);
        EXPECT_EQ(X, alone);
        TwoCrew of_factors;
        X = alone = B;
        potrs(of_factors, uplo, n, nrhs, A.data(), n, X.data(), n);
        potrs(one, uplo, n, nrhs, A.data(), n, alone.data(), n);
        EXPECT_EQ(X, alone);
        EXPECT_EQ(of_factors.shared.empty(), two.shared.empty());
        EXPECT_GE(of_factors.shared.size(), two.shared.size()) << "of one triangle, then of the other";
        return two.shared.size();
    };
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans}) {
            const std::size_t for_one = shared_by(800, 1, uplo, op);
            EXPECT_GE(for_one, 4);
            EXPECT_EQ(shared_by(800, 2, uplo, op), 2 * for_one);
            EXPECT_EQ(shared_by(500, 1, uplo, op), 0);
        }
}

/// Solutions from factors are those of two triangles, with the bits of one worker.
TEST(StructuredProducts, SolveForFewRightSidesInParts)
{
    constexpr Index n = 230;
    const Index nrhs = 3 * blas::setup<double>(0).kernel.nr;
    std::vector<double> A = random_numbers<double>(n * n);
    for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = 2 * n;
    std::vector<Index> pivots(n);
    for (Index i = 0; i < n; ++i) pivots[std::size_t(i)] = i % 3 == 0 ? n : i + 1;
    const std::vector<double> B = random_numbers<double>(n * nrhs);
    const auto in_both = [&](const auto& solve) {
        std::vector<double> X = B, alone = B;
        SharingCrew crew({});
        solve(crew, X.data());
        SmallCrew one(1);
        solve(one, alone.data());
        EXPECT_EQ(X, alone);
        EXPECT_EQ(crew.asked.size(), 2) << "of one triangle, then of the other";
        EXPECT_EQ(crew.shared, 2);
        return X;
    };
    const auto multiplied = [&](Uplo uplo, Op op, Diag diag, std::vector<double>& X) {
        SmallCrew one(1);
        trmm(one, Side::left, uplo, op, diag, n, nrhs, 1.0, A.data(), n, X.data(), n);
    };
    const auto expect_right_sides = [&](const std::vector<double>& X, double bound) {
        for (std::size_t i = 0; i < X.size(); ++i) ASSERT_NEAR(X[i], B[i], bound) << i;
    };
    std::vector<double> X = in_both([&](Crew& crew, double* x) { potrs(crew, Uplo::lower, n, nrhs, A.data(), n, x, n); });
    multiplied(Uplo::lower, Op::trans, Diag::non_unit, X);
    multiplied(Uplo::lower, Op::none, Diag::non_unit, X);
    expect_right_sides(X, 1e-12);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) A[std::size_t(i + j * n)] /= 2 * n; // as LU's, with a unit diagonal
    X = in_both([&](Crew& crew, double* x) { getrs(crew, Op::none, n, nrhs, A.data(), n, pivots.data(), x, n); });
    multiplied(Uplo::upper, Op::none, Diag::non_unit, X);
    multiplied(Uplo::lower, Op::none, Diag::unit, X);
    laswp(n, nrhs, X.data(), n, 0, n, pivots.data(), true);
    expect_right_sides(X, 1e-12);
    X = in_both([&](Crew& crew, double* x) { getrs(crew, Op::trans, n, nrhs, A.data(), n, pivots.data(), x, n); });
    laswp(n, nrhs, X.data(), n, 0, n, pivots.data(), false);
    multiplied(Uplo::lower, Op::trans, Diag::unit, X);
    multiplied(Uplo::upper, Op::trans, Diag::non_unit, X);
    expect_right_sides(X, 1e-12);
}

/// Beside a vector, or two, all read their parts of a large matrix, with the bits of one worker and of calls without any.
TEST(StructuredProducts, OfAMatrixAndVectorsAreSharedToo)
{
    constexpr Index n = 1100;
    std::vector<double> A = random_numbers<double>(n * n);
    for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = double(n);
    const std::vector<double> B = random_numbers<double>(2 * n);
    const auto same = [&](const char* what, const auto& call, const auto& alone) {
        TwoCrew two;
        SmallCrew one(1);
        std::vector<double> X = B, Y = B, Z = B;
        call(two, X);
        call(one, Y);
        alone(one.kernels(), Z);
        EXPECT_FALSE(two.shared.empty()) << what;
        EXPECT_EQ(X, Y) << what;
        EXPECT_EQ(X, Z) << what;
    };
    for (const Side side : {Side::left, Side::right}) {
        const Index rows = side == Side::left ? n : 2, cols = side == Side::left ? 2 : n;
        const auto with = [&](auto&& routine) {
            return [&, routine](auto& how, std::vector<double>& X) { routine(how, X.data()); };
        };
        same("symm", with([&](Crew& crew, double* X) {
                 symm(crew, side, Uplo::lower, rows, cols, 2.0, A.data(), n, B.data(), rows, 0.5, X, rows);
             }),
             with([&](const KernelProvider& kernels, double* X) {
                 alone::symm(kernels, side, Uplo::lower, rows, cols, 2.0, A.data(), n, B.data(), rows, 0.5, X, rows);
             }));
        same("trmm", with([&](Crew& crew, double* X) {
                 trmm(crew, side, Uplo::upper, Op::none, Diag::unit, rows, cols, 2.0, A.data(), n, X, rows);
             }),
             with([&](const KernelProvider& kernels, double* X) {
                 alone::trmm(kernels, side, Uplo::upper, Op::none, Diag::unit, rows, cols, 2.0, A.data(), n, X, rows);
             }));
        same("trsm", with([&](Crew& crew, double* X) {
                 trsm(crew, side, Uplo::lower, Op::trans, Diag::non_unit, rows, cols, 2.0, A.data(), n, X, rows);
             }),
             with([&](const KernelProvider& kernels, double* X) {
                 alone::trsm(kernels, side, Uplo::lower, Op::trans, Diag::non_unit, rows, cols, 2.0, A.data(), n, X, rows);
             }));
    }
}

/// Wide slices of products with a structured operand: one for each worker there, several elsewhere, with the same bits.
TEST(StructuredProducts, AreSlicedOnceForEachWorkerWhereThatIsFaster)
{
    constexpr Index n = 500;
    const std::vector<double> A = random_numbers<double>(n * n), B(A.rbegin(), A.rend());
    const auto symmetric = [&](SharingCrew&& crew, bool once) {
        std::vector<double> C(A.size());
        symm(crew, Side::left, Uplo::lower, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n);
        EXPECT_EQ(crew.shared == 2, once) << "symm";
        return C;
    };
    const auto triangular = [&](SharingCrew&& crew, bool once) {
        std::vector<double> C = B;
        trmm(crew, Side::left, Uplo::upper, Op::none, Diag::unit, n, n, 1.0, A.data(), n, C.data(), n);
        EXPECT_EQ(crew.shared == 2, once) << "trmm";
        return C;
    };
    for (const SharingCrew::Is elsewhere : {SharingCrew::Is{.far = false}, {.even = false}, {.wary = true}}) {
        EXPECT_EQ(symmetric(SharingCrew({}), true), symmetric(SharingCrew(elsewhere), false));
        EXPECT_EQ(triangular(SharingCrew({}), true), triangular(SharingCrew(elsewhere), false));
    }
}

/// A longer product with a triangle: in pieces by all, or as one task that others join, with the same bits; so long that slices
/// and tiles would do it.
TEST(StructuredProducts, WithALargeTriangleAreMadeTogether)
{
    constexpr Index order = 680, others = 640;
    const std::vector<double> A = random_numbers<double>(order * order), B = random_numbers<double>(order * others);
    for (const Side side : {Side::left, Side::right}) {
        const Index m = side == Side::left ? order : others, n = side == Side::left ? others : order;
        const auto multiplied = [&](auto&& crew) {
            std::vector<double> C = B;
            trmm(crew, side, Uplo::lower, Op::trans, Diag::non_unit, m, n, 2.0, A.data(), order, C.data(), m);
            return C;
        };
        SharingCrew sharing({});
        const std::vector<double> shared = multiplied(sharing);
        if (blas::goes_past_factor(blas::setup<double>(0).kernel, side, order, others)) {
            EXPECT_GE(sharing.shared, 10);
        }
        EXPECT_EQ(shared, multiplied(SmallCrew(2)));
    }
}

/// What each of two workers would have is wide enough from there on, of complex numbers earlier; with one worker's bits.
template <Scalar T> void expect_slices_of_structured_products(Index symmetric, Index triangular)
{
    const auto in_two = [](Index n, const auto& call) {
        const std::vector<T> A = random_numbers<T>(n * n), B(A.rbegin(), A.rend());
        std::vector<T> C = B, alone = B;
        SharingCrew crew({});
        call(crew, A, B, C);
        SmallCrew one(1);
        call(one, A, B, alone);
        EXPECT_EQ(C, alone) << n;
        return crew.shared == 2;
    };
    const auto hermitian = [&](Index n) {
        return in_two(n, [n](Crew& crew, const auto& A, const auto& B, auto& C) {
            hemm(crew, Side::left, Uplo::lower, n, n, T(1), A.data(), n, B.data(), n, T(0), C.data(), n);
        });
    };
    const auto multiplied = [&](Index n) {
        return in_two(n, [n](Crew& crew, const auto& A, const auto&, auto& C) {
            trmm(crew, Side::left, Uplo::lower, Op::none, Diag::unit, n, n, T(1), A.data(), n, C.data(), n);
        });
    };
    EXPECT_TRUE(hermitian(symmetric));
    EXPECT_TRUE(multiplied(triangular));
}

TEST(StructuredProducts, OfComplexNumbersAreSlicedEarlier)
{
    expect_slices_of_structured_products<double>(80, 104);
    expect_slices_of_structured_products<std::complex<double>>(50, 56);
    expect_slices_of_structured_products<std::complex<float>>(56, 72);
}

} // namespace
} // namespace trencadis
