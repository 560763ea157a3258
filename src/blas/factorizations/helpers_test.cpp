#include "blas/factorizations/look_ahead.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/factorizations/qr.hpp"
#include "blas/level3/level3.hpp"
#include "blas/testing/reference.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace trencadis::blas {
namespace {

using namespace testing;

constexpr BlockSizes blocks{256, 240, 4000};

/// A fork and a join of two threads for each update, whatever that costs.
struct TwoThreads {
    const InstructionSet& set; ///< is each thread's own
    int forks = 0;
    Helpers helpers(int cores)
    {
        return {cores, [this](Index chunks, Flops, const std::function<void(Team&)>& work) {
                    SharedWork shared(chunks, 1);
                    std::thread other([&] {
                        const ForcedSetup forced(set, blocks);
                        Team team(shared, nullptr, 1, true);
                        work(team);
                    });
                    Team team(shared);
                    work(team);
                    other.join();
                    ++forks;
                    return true;
                }};
    }
};

template <Scalar T>::testing::AssertionResult same_bits(const Stored<T>& a, const Stored<T>& b)
{
    for (Index j = 0; j < a.cols; ++j)
        if (std::memcmp(&a(0, j), &b(0, j), std::size_t(a.rows) * sizeof(T)) != 0)
            return ::testing::AssertionFailure() << "column " << j << " differs";
    return ::testing::AssertionSuccess();
}

template <class T> class Helped : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Helped, Scalars);

struct Shape {
    Index m, n;
};
constexpr Shape shapes[] = {{256, 256}, {403, 357}, {130, 600}, {320, 310}, {161, 161}, {194, 226}, {540, 520}, {700, 610}};

/// body(set, m, n, cores, what) for every instruction set that runs here.
template <class Body> void for_every_set(const Body& body)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const ForcedSetup forced(*set, blocks);
        for (const auto [m, n] : shapes)
            for (const int cores : {2, 5})
                body(*set, m, n, cores,
                     std::string(set->name) + ' ' + std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(cores) +
                         " cores");
    }
}

TYPED_TEST(Helped, LuHasTheBitsOfOneThread)
{
    using T = TypeParam;
    Random random(5);
    for_every_set([&](const InstructionSet& set, Index m, Index n, int cores, const std::string& what) {
        auto alone = random_matrix<T>(random, m, n), helped = alone;
        if (m == 403) alone(60, 100) = helped(60, 100) = std::numeric_limits<Real<T>>::infinity();
        std::vector<Index> pivots(std::size_t(std::min(m, n))), others = pivots;
        TwoThreads threads{set};
        const Index info = getrf(m, n, alone.data.data(), alone.ld, pivots.data(), Helpers{cores});
        EXPECT_EQ(getrf(m, n, helped.data.data(), helped.ld, others.data(), threads.helpers(cores)), info);
        EXPECT_GT(threads.forks, 0) << what;
        EXPECT_EQ(pivots, others);
        ASSERT_TRUE(same_bits(alone, helped)) << what;
    });
}

TYPED_TEST(Helped, CholeskyHasTheBitsOfOneThread)
{
    using T = TypeParam;
    Random random(7);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const ForcedSetup forced(*set, blocks);
        for (const Index n : {220, 256, 301, 391})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Index minor : {Index(0), n - 20}) {
                    auto alone = random_matrix<T>(random, n, n);
                    for (Index j = 0; j < n; ++j) alone(j, j) = T(Real<T>(n));
                    if (minor) alone(minor - 1, minor - 1) = T(-1);
                    auto helped = alone;
                    const std::string what = std::string(set->name) + ' ' + std::to_string(n) + ' ' + char(uplo);
                    TwoThreads threads{*set};
                    EXPECT_EQ(potrf(uplo, n, alone.data.data(), alone.ld, {2}), minor) << what;
                    EXPECT_EQ(potrf(uplo, n, helped.data.data(), helped.ld, threads.helpers(2)), minor) << what;
                    EXPECT_GT(threads.forks, 0);
                    ASSERT_TRUE(same_bits(alone, helped)) << what;
                }
    }
}

TYPED_TEST(Helped, QrHasTheBitsOfOneThread)
{
    using T = TypeParam;
    Random random(6);
    for_every_set([&](const InstructionSet& set, Index m, Index n, int cores, const std::string& what) {
        auto alone = random_matrix<T>(random, m, n), helped = alone;
        std::vector<T> tau(std::size_t(std::min(m, n))), others = tau;
        TwoThreads threads{set};
        geqrf<T>(m, n, alone.data.data(), alone.ld, tau.data(), nullptr, 1);
        geqrf<T>(m, n, helped.data.data(), helped.ld, others.data(), nullptr, 1, threads.helpers(cores));
        EXPECT_GT(threads.forks, 0) << what;
        EXPECT_EQ(tau, others);
        ASSERT_TRUE(same_bits(alone, helped)) << what;
    });
}

/// What is brought from another core's cache would take longer than what is saved.
TEST(Helping, IsForNoUpdateThatReadsMuchForWhatItComputes)
{
    const Helpers two{2, [](Index, Flops, const std::function<void(Team&)>&) { return true; }};
    EXPECT_TRUE(is_worth_sharing(two, {96, 1.6e6, 32e3, 98e3}));
    EXPECT_FALSE(is_worth_sharing(two, {64, 0.8e6, 65e3, 65e3}));
    EXPECT_FALSE(is_worth_sharing(two, {96, 2e5, 0, 0})) << "it is over";
    EXPECT_FALSE(is_worth_sharing({}, {96, 1.6e6, 32e3, 98e3})) << "nobody";
    EXPECT_FALSE(is_worth_sharing({2, two.share, flops_for_a_byte(75, 63)}, {96, 1.6e6, 32e3, 98e3})) << "they are far";
    EXPECT_TRUE(is_worth_sharing({2, two.share, flops_for_a_byte(75, 20)}, {96, 1.6e6, 32e3, 98e3})) << "but slow as well";
}

TEST(Helping, IsWeighedByWhatItSavesAndWhatItMoves)
{
    const Helpers two{2, [](Index, Flops, const std::function<void(Team&)>&) { return true; }, 100, 10};
    EXPECT_TRUE(saves_time(two, {1.1e6, 1e5}));
    EXPECT_FALSE(saves_time(two, {0.9e6, 1e5}));
    EXPECT_FALSE(saves_time(two, {1e5, 0})) << "it is over";
    EXPECT_FALSE(saves_time({}, {1.1e6, 1e5})) << "nobody";
    EXPECT_FALSE(is_worth_sharing(two, {96, 1.2e6, 1e4, 1e4})) << "which does not go by columns";
}

} // namespace
} // namespace trencadis::blas
