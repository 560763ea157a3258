#include "blas/level3/by_halves.hpp"

#include "blas/level3/block_sizes.hpp"
#include "blas/level3/level3.hpp"
#include "blas/testing/reference.hpp"
#include "graph/testing/both_ends.hpp"
#include "matrix/testing/address_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class ByHalves : public ::testing::Test {
protected:
    unsigned seed = std::random_device{}();
    Random random{seed};

    using Routine = std::function<void(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index)>;
    static Routine solving(const Helpers& helpers = {})
    {
        return [helpers](auto... x) { solve_by_halves<T>(x..., helpers); };
    }
    static Routine multiplying(const Helpers& helpers = {})
    {
        return [helpers](auto... x) { multiply_by_halves<T>(x..., helpers); };
    }
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
        constexpr std::array<Index, 6> others{3, 7, 16, 33, 64, 99};
        return {random.side(),
                random.uplo(),
                random.op(),
                random.diag(),
                orders[std::size_t(random.below(4))],
                others[std::size_t(random.below(6))]};
    }
    /// B from `first` on, so many columns (from the right: rows).
    static void carry_out(const Routine& routine, const Case& x, T alpha, const Stored<T>& A, Stored<T>& B, Index first,
                          Index count)
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
    /// Small beside the diagonal, so that all ways of a solve are near the solution.
    Stored<T> triangle(const Case& x)
    {
        auto A = random_triangle<T>(random, x.uplo, x.order);
        for (Index j = 0; j < x.order; ++j)
            for (Index i = 0; i < x.order; ++i)
                if (i != j) A(i, j) /= T(Real<T>(x.order));
        return A;
    }
    Stored<T> others(const Case& x)
    {
        return x.side == Side::left ? random_matrix<T>(random, x.order, x.others) : random_matrix<T>(random, x.others, x.order);
    }
    void expect(const Routine& by_halves, const Routine& packed, const std::string& where)
    {
        const Case x = any();
        const Stored<T> A = triangle(x), before = others(x);
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
            this->expect(this->solving(), trsm<TypeParam>, where);
    });
}

TYPED_TEST(ByHalves, MultipliesAsWithAPackedTriangleAndEachColumnByItself)
{
    for_all_setups([&](const std::string& where) {
        for (int round = 0; round < 12 && !this->HasFatalFailure(); ++round)
            this->expect(this->multiplying(), trmm<TypeParam>, where);
    });
}

TYPED_TEST(ByHalves, LeavesNothingOfBWhereAlphaIsZero)
{
    using T = TypeParam;
    const Index n = 100, others = 5;
    auto A = random_matrix<T>(this->random, n, n), B = random_matrix<T>(this->random, n, others);
    std::fill(A.data.begin(), A.data.end(), not_a_number<T>()); // is not read
    for (const auto& routine : {this->solving(), this->multiplying()}) {
        std::fill(B.data.begin(), B.data.end(), not_a_number<T>());
        routine(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, others, T(0), A.data.data(), A.ld, B.data.data(), B.ld);
        for (Index j = 0; j < others; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(B(i, j), T(0));
    }
}

/// Of an order that parts of B are carried past in pieces.
TYPED_TEST(ByHalves, HaveTheSameBitsWithHelpers)
{
    using T = TypeParam;
    int shared = 0;
    const Helpers helpers{2, [&](Index chunks, Flops, const std::function<void(Team&)>& work) {
                              if (++shared % 5 == 0) return false; // nobody has time for it
                              trencadis::testing::work_from_both_ends(chunks, work);
                              return true;
                          }};
    const BlockSizes& sizes = block_sizes<T>();
    const double held = double(sizes.kc * sizes.mc);
    const Index kept = Index(std::sqrt(held / 2)); // beside so few by a part of the second cache
    const Index large = std::max<Index>(750, Index(1.1 * std::sqrt(2 * held)));
    for (const Side side : {Side::left, Side::right})
        for (const auto& [others, order] :
             {std::pair<Index, Index>{4, kept}, {5, kept}, {7, large}, {20, large}, {50, large}, {90, large}}) {
            typename TestFixture::Case x = this->any();
            x.side = side, x.order = order, x.others = others;
            const Stored<T> A = this->triangle(x), before = this->others(x);
            const auto same = [&](const auto& routine, const auto& helped) {
                auto alone = before, together = before;
                this->carry_out(routine, x, T(2), A, alone, 0, others);
                shared = 0;
                this->carry_out(helped, x, T(2), A, together, 0, others);
                // Parts of B beside each half, and of what one half gives the other; many rows by parts alone.
                const bool in_pieces = others >= 20 && (side == Side::left || others <= 32);
                EXPECT_GE(shared, order == kept ? 0 : in_pieces ? 3 : 1) << char(side) << " " << others;
                EXPECT_EQ(std::memcmp(alone.data.data(), together.data.data(), alone.data.size() * sizeof(T)), 0)
                    << char(side) << char(x.uplo) << char(x.op) << " " << others << " others, seed " << this->seed;
            };
            same(this->solving(), this->solving(helpers));
            same(this->multiplying(), this->multiplying(helpers));
        }
}

/// A thread without buffers and without memory for them is the only one to help. The others' results are all the same.
[[noreturn]] void solve_with_poor_help()
{
    constexpr Index n = 750, others = 20;
    mallopt(M_ARENA_MAX, 1); // no other has room in stock
    Random random(3);
    auto A = random_triangle<double>(random, Uplo::lower, n);
    for (double& a : A.data) a /= double(n);
    for (Index i = 0; i < n; ++i) A(i, i) = 1;
    const auto before = random_matrix<double>(random, n, others);
    auto alone = before, together = before;
    const auto solve = [&](auto& B, const Helpers& helpers) {
        solve_by_halves(Side::left, Uplo::lower, Op::none, Diag::unit, n, others, 1.0, A.data.data(), A.ld, B.data.data(), B.ld,
                        helpers);
    };
    solve(alone, {});
    std::atomic<const std::function<void()>*> job{nullptr};
    std::atomic<bool> ends{false}, begun{false};
    std::atomic<int> asked{0};
    std::thread helper([&] {
        begun = true;
        for (; !ends; std::this_thread::yield())
            if (const auto* const found = job.load()) {
                (*found)();
                job = nullptr;
            }
    });
    while (!begun) std::this_thread::yield();
    trencadis::testing::limit_address_space(0);
    solve(together, {2, [&](Index chunks, Flops, const std::function<void(Team&)>& work) {
                         SharedWork all(chunks, 1);
                         const std::function<void()> help = [&] {
                             Team joined(all, nullptr, 1, true);
                             work(joined);
                             asked += joined.taken() == 0;
                         };
                         job = &help;
                         while (job.load()) std::this_thread::yield();
                         Team own(all);
                         work(own);
                         return true;
                     }});
    ends = true;
    helper.join();
    const bool same = std::memcmp(alone.data.data(), together.data.data(), alone.data.size() * sizeof(double)) == 0;
    std::exit(asked > 0 && same ? 0 : 1);
}

TEST(ByHalvesInLittleMemory, DoWithoutHelpersWhoHaveNoMemory)
{
    if (!trencadis::testing::can_limit_address_space) GTEST_SKIP() << "a sanitizer's memory is part of the address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(solve_with_poor_help(), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace trencadis::blas
