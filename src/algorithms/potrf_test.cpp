#include "algorithms/potrf.hpp"

#include "algorithms/column_cholesky.hpp"
#include "algorithms/empty_cholesky.hpp"
#include "kernels/testing/in_order.hpp"
#include "kernels/testing/reference.hpp"

#include <algorithm>

namespace trencadis {
namespace {

using namespace testing;
constexpr Index nb = 4;

template <class T> class Cholesky : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Cholesky, Scalars);

/// Positive definite by diagonal dominance, in one triangle.
template <Scalar T> Dense<T> positive_definite(Uplo uplo, Index n) { return random_triangle<T>(uplo, n, Real<T>(2 * n + 2)); }

template <Scalar T> Op seen_as_lower(Uplo uplo) { return uplo == Uplo::lower ? Op::none : herm_op<T>; }

/// The sizes of the tiles inside the diagonal ones, none on one level: less than, no divisor of and as large as a tile.
/// Or one level on packed tiles, or left-looking, or by block columns.
constexpr Index one_level = 0, packed = -1, left_looking = -2, columns = -3,
                levels[] = {columns, left_looking, packed, one_level, 1, 3, nb};

template <Scalar T> Index factor(const KernelProvider& kernels, Uplo uplo, Dense<T>& A, Index inner)
{
    InOrder executor(&kernels);
    TaskFlow flow(executor);
    const TileMatrix<T> lower = TileMatrix<T>(A.view(), nb, nb).with(seen_as_lower<T>(uplo));
    const CholeskyImages<T> images(inner == packed ? A.cols : 0, nb);
    if (inner == packed) potrf_packed(flow, lower, images);
    else if (inner == left_looking) potrf_left_looking(flow, lower);
    else if (inner == columns) potrf_columns(flow, lower);
    else if (inner == one_level) potrf(flow, lower);
    else potrf_two_level(flow, lower, inner);
    flow.wait();
    return flow.outcome().value();
}

/// |A - L L^H| <= (n + 1) eps |L| |L^H| for the leading minor of order n (Higham, theorem 10.3).
template <Scalar T> void expect_factor(Uplo uplo, const Dense<T>& A, const Dense<T>& F, Index n)
{
    const Op op = seen_as_lower<T>(uplo);
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) {
            Sum<T> sum;
            for (Index k = 0; k <= j; ++k) sum.add(F.at(op, i, k), conjugate(F.at(op, j, k)));
            expect_within(A.at(op, i, j), sum.value, sum.magnitude, double(n), "Cholesky factor");
        }
}

TYPED_TEST(Cholesky, FactorsBothTrianglesAtRaggedSizesAndTouchesNothingElse)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : {Index(0), Index(1), nb - 1, nb, nb + 1, 2 * nb, 3 * nb + 2, Index(41)})
                for (const Index inner : levels) {
                    const Dense<T> A = positive_definite<T>(uplo, n);
                    Dense<T> F = A;
                    EXPECT_EQ(factor(*kernels, uplo, F, inner), 0);
                    expect_factor(uplo, A, F, n);
                    expect_untouched(A, F, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
                }
}

/// Of which images of left operands serve as right ones, where kernels read them so.
TYPED_TEST(Cholesky, FactorsTilesThatAreLargerThanTheFirstCache)
{
    using T = TypeParam;
    constexpr Index large = 144, n = 2 * large + 45;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Dense<T> A = positive_definite<T>(uplo, n);
        Dense<T> F = A;
        InOrder executor(providers().front());
        TaskFlow flow(executor);
        const CholeskyImages<T> images(n, large);
        potrf_packed(flow, TileMatrix<T>(F.view(), large, large).with(seen_as_lower<T>(uplo)), images);
        flow.wait();
        EXPECT_EQ(flow.outcome().value(), 0);
        expect_factor(uplo, A, F, n);
        expect_untouched(A, F, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
    }
}

/// Whether all pivots are positive or one is not.
TYPED_TEST(Cholesky, LeftLookingGivesTheBitsOfTheRightLookingOne)
{
    using T = TypeParam;
    constexpr Index n = 5 * nb + 3;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index bad : {Index(0), nb + 2, 3 * nb}) {
                Dense<T> A = positive_definite<T>(uplo, n);
                if (bad) A(bad - 1, bad - 1) = T(-1);
                Dense<T> left = A, right = A;
                EXPECT_EQ(factor(*kernels, uplo, left, left_looking), bad);
                EXPECT_EQ(factor(*kernels, uplo, right, one_level), bad);
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < n; ++i)
                        if (in_triangle(uplo, i, j)) {
                            ASSERT_EQ(left(i, j), right(i, j)) << i << " " << j << ", bad pivot " << bad;
                        }
            }
}

TYPED_TEST(Cholesky, ReportsTheFirstBadPivotWhereverItIsAndLeavesTheLeadingFactor)
{
    using T = TypeParam;
    constexpr Index n = 3 * nb + 2;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index bad : {Index(1), Index(2), nb, nb + 1, 2 * nb - 1, 3 * nb, n})
                for (const Real<T> pivot : {Real<T>(-1), std::numeric_limits<Real<T>>::quiet_NaN()})
                    for (const Index inner : levels) {
                        Dense<T> A = positive_definite<T>(uplo, n);
                        A(bad - 1, bad - 1) = T(pivot);
                        if (bad < n) A(n - 1, n - 1) = T(-5); // a later one must not win
                        Dense<T> F = A;
                        EXPECT_EQ(factor(*kernels, uplo, F, inner), bad) << kernels->name();
                        expect_factor(uplo, A, F, bad - 1);
                        expect_untouched(A, F, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
                    }
}

/// What a failure in tile row k leaves of the trailing matrix: A minus the products of the steps before k, nothing of later ones.
TYPED_TEST(Cholesky, StopsEveryTaskOfTheFailedStepAndAfter)
{
    using T = TypeParam;
    constexpr Index n = 4 * nb + 1;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index bad : {Index(2), nb + 1, 2 * nb})
                for (const Index inner : levels) {
                    const Op op = seen_as_lower<T>(uplo);
                    Dense<T> A = positive_definite<T>(uplo, n);
                    A(bad - 1, bad - 1) = T(-1);
                    Dense<T> F = A;
                    EXPECT_EQ(factor(*kernels, uplo, F, inner), bad);
                    const Index done = (bad - 1) / nb * nb; // columns of the steps before
                    for (Index j = done; j < n; ++j)
                        for (Index i = std::max(j, done + nb); i < n; ++i) {
                            Sum<T> sum;
                            sum.add(T(1), A.at(op, i, j));
                            for (Index k = 0; k < done; ++k) sum.add(-F.at(op, i, k), conjugate(F.at(op, j, k)));
                            expect_within(F.at(op, i, j), sum.value, sum.magnitude, double(n), "trailing matrix");
                        }
                }
}

template <Scalar T> Index solve(const KernelProvider& kernels, Uplo uplo, Dense<T>& A, Dense<T>& B, Index inner)
{
    InOrder executor(&kernels);
    TaskFlow flow(executor);
    const TileMatrix<T> lower = TileMatrix<T>(A.view(), nb, nb).with(seen_as_lower<T>(uplo)), right(B.view(), nb, 2);
    if (inner == columns) posv_columns(flow, lower, TileMatrix<T>(B.view(), std::max<Index>(B.rows, 1), 2));
    else if (inner == one_level) posv(flow, lower, right);
    else posv_two_level(flow, lower, right, inner);
    flow.wait();
    return flow.outcome().value();
}

TYPED_TEST(Cholesky, SolvesThroughTheFactorInOneFlow)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : {Index(1), nb, 3 * nb + 1})
                for (const auto& [nrhs, inner] :
                     {std::pair(Index(1), one_level), {nb + 1, one_level}, {3, 1}, {3, 3}, {1, columns}, {nb + 1, columns}}) {
                    const Dense<T> A = positive_definite<T>(uplo, n), B = random_matrix<T>(n, nrhs);
                    Dense<T> F = A, X = B;
                    EXPECT_EQ(solve(*kernels, uplo, F, X, inner), 0);
                    const auto full = [&](Index i, Index j) { return in_triangle(uplo, i, j) ? A(i, j) : conjugate(A(j, i)); };
                    for (Index j = 0; j < nrhs; ++j)
                        for (Index i = 0; i < n; ++i) {
                            Sum<T> sum;
                            for (Index k = 0; k < n; ++k) sum.add(full(i, k), X(k, j));
                            // (A + dA) x = b with |dA| <= (3 n + 1) eps |L| |L^H| (Higham, theorem 10.4); A is dominated by its
                            // diagonal, so that |L| |L^H| is at most twice |A|
                            expect_within(B(i, j), sum.value, 2 * sum.magnitude + std::abs(Wide<T>(B(i, j))), 3.0 * double(n),
                                          "solution");
                        }
                }
}

TYPED_TEST(Cholesky, LeavesTheRightHandSideAloneWhenTheMatrixIsNotPositiveDefinite)
{
    using T = TypeParam;
    constexpr Index n = 3 * nb;
    const Dense<T> B = random_matrix<T>(n, 3);
    for (const Index inner : {one_level, columns, Index(3)}) {
        Dense<T> A = positive_definite<T>(Uplo::lower, n), X = B;
        A(n - 1, n - 1) = T(-1);
        EXPECT_EQ(solve(*providers().front(), Uplo::lower, A, X, inner), n);
        expect_same_bits(X, B);
    }
}

TEST(EmptyCholesky, SubmitsAsManyTasksAsItSays)
{
    for (const Index tiles : {Index(0), Index(1), Index(2), Index(7)}) {
        std::vector<char> names(std::size_t(tiles * tiles + 1));
        struct Counting final : Executor {
            Index tasks = 0;
            void ready(Task* chain) override
            {
                while (chain) {
                    Task& task = *chain;
                    chain = task.next;
                    ++tasks;
                    Task* released = task.flow->finish(task, nullptr);
                    EXPECT_EQ(released, nullptr); // in order, each is ready when it is submitted
                }
            }
            void drain(TaskFlow&, std::int64_t) override {}
            void wake_owner(TaskFlow&) override {}
        } executor;
        TaskFlow flow(executor);
        empty_cholesky(flow, names.data(), tiles);
        flow.wait();
        EXPECT_EQ(executor.tasks, empty_cholesky_tasks(tiles));
    }
}

} // namespace
} // namespace trencadis
