#include "blas/level3/by_halves.hpp"

#include "blas/level3/level3.hpp"
#include "blas/testing/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class ByHalves : public ::testing::Test {
protected:
    unsigned seed = std::random_device{}();
    Random random{seed};

    using Routine = void (*)(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);
    struct Case {
        Side side;
        Uplo uplo;
        Op op;
        Diag diag;
        Index order, others;
    };
    /// Any of them, of an order that is halved once or twice, or not quite in the middle.
    Case any()
    {
        constexpr std::array<Index, 4> orders{97, 100, 193, 250};
        constexpr std::array<Index, 5> others{3, 7, 16, 33, 64};
        return {random.side(),
                random.uplo(),
                random.op(),
                random.diag(),
                orders[std::size_t(random.below(4))],
                others[std::size_t(random.below(5))]};
    }
    /// B from `first` on, so many columns (from the right: rows).
    static void carry_out(Routine routine, const Case& x, T alpha, const Stored<T>& A, Stored<T>& B, Index first, Index count)
    {
        const bool left = x.side == Side::left;
        routine(x.side, x.uplo, x.op, x.diag, left ? x.order : count, left ? count : x.order, alpha, A.data.data(), A.ld,
                B.data.data() + first * (left ? B.ld : 1), B.ld);
    }
    static double distance(const Stored<T>& a, const Stored<T>& b)
    {
        double most = 0, largest = 0;
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i) {
                most = std::max<double>(most, std::abs(a(i, j) - b(i, j)));
                largest = std::max<double>(largest, std::abs(a(i, j)));
            }
        return most / largest;
    }
    void expect(Routine by_halves, Routine packed, const std::string& where)
    {
        const Case x = any();
        const bool left = x.side == Side::left;
        // Below the diagonal small, so that both ways of a solve are near the solution.
        auto A = random_triangle<T>(random, x.uplo, x.order);
        for (Index j = 0; j < x.order; ++j)
            for (Index i = 0; i < x.order; ++i)
                if (i != j) A(i, j) /= T(Real<T>(x.order));
        const auto before = random_matrix<T>(random, left ? x.order : x.others, left ? x.others : x.order);
        auto halves = before, whole = before, parts = before;
        const T alpha = random.below(2) ? T(1) : T(Real<T>(-0.7));
        carry_out(by_halves, x, alpha, A, halves, 0, x.others);
        carry_out(packed, x, alpha, A, whole, 0, x.others);
        ASSERT_LE(distance(whole, halves), double(x.order) * double(std::numeric_limits<Real<T>>::epsilon()))
            << where << ", order " << x.order << ", " << x.others << " others, seed " << seed;
        const Index some = std::max<Index>(3, x.others / 3); // none that is solved for column by column
        for (Index first = 0; first < x.others;) {
            const Index count = x.others - first < 2 * some ? x.others - first : some;
            carry_out(by_halves, x, alpha, A, parts, first, count);
            first += count;
        }
        ASSERT_EQ(std::memcmp(parts.data.data(), halves.data.data(), parts.data.size() * sizeof(T)), 0)
            << where << ", order " << x.order << ", " << x.others << " others, seed " << seed;
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ByHalves, Scalars);

TYPED_TEST(ByHalves, SolvesAsWithAPackedTriangleAndEachColumnByItself)
{
    for_all_setups([&](const std::string& where) {
        for (int round = 0; round < 12 && !this->HasFatalFailure(); ++round)
            this->expect(solve_by_halves<TypeParam>, trsm<TypeParam>, where);
    });
}

TYPED_TEST(ByHalves, MultipliesAsWithAPackedTriangleAndEachColumnByItself)
{
    for_all_setups([&](const std::string& where) {
        for (int round = 0; round < 12 && !this->HasFatalFailure(); ++round)
            this->expect(multiply_by_halves<TypeParam>, trmm<TypeParam>, where);
    });
}

TYPED_TEST(ByHalves, LeavesNothingOfBWhereAlphaIsZero)
{
    using T = TypeParam;
    const Index n = 100, others = 5;
    auto A = random_matrix<T>(this->random, n, n), B = random_matrix<T>(this->random, n, others);
    std::fill(A.data.begin(), A.data.end(), not_a_number<T>()); // is not read
    for (const auto routine : {solve_by_halves<T>, multiply_by_halves<T>}) {
        std::fill(B.data.begin(), B.data.end(), not_a_number<T>());
        routine(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, others, T(0), A.data.data(), A.ld, B.data.data(), B.ld);
        for (Index j = 0; j < others; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(B(i, j), T(0));
    }
}

} // namespace
} // namespace trencadis::blas
