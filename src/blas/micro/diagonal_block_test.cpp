#include "blas/micro/micro_kernel.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace trencadis::blas {
namespace {

template <class R> class DiagonalBlocks : public ::testing::Test {
protected:
    /// Calls visit(kernel) for every instruction set that runs here and has such a kernel.
    template <class Visit> static void for_each_kernel(const Visit& visit)
    {
        for (const InstructionSet* const set : instruction_set_entries()) {
            if (!set->runs_here() || !set->micro_kernel<R>().factor_diagonal) continue;
            SCOPED_TRACE(set->name);
            visit(set->micro_kernel<R>());
        }
    }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DiagonalBlocks, Reals);

/// A positive definite triangle of order n with columns `step` apart, NaN in front of the diagonal and rows of zeros below.
template <class R> std::vector<R> triangle(Index n, Index nr, Index step)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<R> entries(-1, 1);
    std::vector<R> D(std::size_t(step * nr), R(7));
    for (Index p = 0; p < n; ++p)
        for (Index i = 0; i < nr; ++i)
            D[std::size_t(i + p * step)] = i < p    ? std::numeric_limits<R>::quiet_NaN()
                                           : i >= n ? R(0)
                                           : i == p ? R(n + 1)
                                                    : entries(random);
    return D;
}

TYPED_TEST(DiagonalBlocks, AreTheProductOfTheirFactor)
{
    using R = TypeParam;
    this->for_each_kernel([](const MicroKernel<R>& kernel) {
        for (Index n = 1; n <= kernel.nr; ++n) {
            const Index nr = kernel.nr, step = nr + 3;
            const std::vector<R> before = triangle<R>(n, nr, step);
            std::vector<R> D = before, U(std::size_t(nr * (n + 1)), R(-1));
            ASSERT_EQ(kernel.factor_diagonal(n, D.data(), step, U.data()), 0) << n;
            const auto L = [&](Index i, Index p) { return D[std::size_t(i + p * step)]; };
            for (Index p = 0; p < n; ++p)
                for (Index i = 0; i < nr; ++i) {
                    EXPECT_TRUE(L(i, p) == 0 || (i >= p && i < n)) << i << ", " << p;
                    const R u = U[std::size_t(p * nr + i)];
                    EXPECT_NEAR(i == p ? u * L(p, p) : 1 + u - L(i, p), 1, 2 * std::numeric_limits<R>::epsilon())
                        << i << ", " << p;
                    R sum = 0;
                    for (Index q = 0; q <= p; ++q) sum += L(i, q) * L(p, q);
                    const R wanted = i < p ? sum : before[std::size_t(i + p * step)];
                    EXPECT_NEAR(sum, wanted, 4 * R(n + 1) * std::numeric_limits<R>::epsilon());
                }
            for (Index i = 0; i < nr; ++i) EXPECT_EQ(U[std::size_t(n * nr + i)], 1);
            for (Index p = 0; p < nr; ++p)
                for (Index i = nr; i < step; ++i) EXPECT_EQ(L(i, p), 7) << "behind the column";
        }
    });
}

TYPED_TEST(DiagonalBlocks, EndAtAPivotThatIsNotPositive)
{
    using R = TypeParam;
    this->for_each_kernel([](const MicroKernel<R>& kernel) {
        const Index nr = kernel.nr;
        for (Index bad = 0; bad < nr; ++bad)
            for (const R pivot : {R(0), R(-2), std::numeric_limits<R>::quiet_NaN()}) {
                const std::vector<R> whole = triangle<R>(nr, nr, nr);
                std::vector<R> D = whole, right = whole, U(std::size_t(nr * (nr + 1)));
                for (Index p = 0; p <= bad; ++p) D[std::size_t(bad + p * nr)] = p < bad ? R(0) : pivot;
                ASSERT_EQ(kernel.factor_diagonal(nr, D.data(), nr, U.data()), bad + 1);
                ASSERT_EQ(kernel.factor_diagonal(nr, right.data(), nr, U.data()), 0);
                for (Index p = 0; p < bad; ++p)
                    for (Index i = p; i < nr; ++i) {
                        if (i == bad) continue;
                        EXPECT_EQ(D[std::size_t(i + p * nr)], right[std::size_t(i + p * nr)]) << i << ", " << p;
                    }
                const R left = D[std::size_t(bad * (nr + 1))];
                EXPECT_TRUE(left == pivot || (left != left && pivot != pivot)) << left;
            }
    });
}

} // namespace
} // namespace trencadis::blas
