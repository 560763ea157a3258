#include "threads/patience.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

constexpr std::int64_t us = 1'000, ms = 1'000'000;

TEST(Patience, GrowsWithWaitsThatAreWorthIt)
{
    Patience patience;
    const std::int64_t first = patience.spin_ns(0);
    for (int i = 0; i < 10; ++i) patience.waited(200 * us);
    EXPECT_GE(patience.spin_ns(0), 2 * 200 * us);
    EXPECT_GT(patience.spin_ns(0), first);
}

TEST(Patience, OutlastsShortWaitsBetweenLongOnes)
{
    Patience patience;
    for (int call = 0; call < 10; ++call) {
        EXPECT_TRUE(call < 1 || patience.spin_ns(0) > 260 * us) << "call " << call;
        patience.waited(200 * us);
        for (int step = 0; step < 12; ++step) patience.waited(20 * us);
    }
}

TEST(Patience, IsLostOverLongWaits)
{
    Patience patience;
    const std::int64_t first = patience.spin_ns(0);
    for (int i = 0; i < 10; ++i) patience.waited(900 * us);
    EXPECT_LE(patience.spin_ns(0), 2 * ms) << "an idle library costs no more than that after its last call";
    for (int i = 0; i < 10; ++i) patience.waited(100 * ms);
    EXPECT_EQ(patience.spin_ns(0), first);
}

TEST(Patience, TakesNoCoreThatANeighbourWants)
{
    Patience patience;
    EXPECT_FALSE(patience.crowded(ms, 10 * us)) << "an interrupt";
    EXPECT_TRUE(patience.crowded(10 * ms, 4 * ms)) << "somebody else's turn";
    EXPECT_EQ(patience.spin_ns(11 * ms), 0);
    EXPECT_EQ(patience.spin_ns(40 * ms), 0);
    EXPECT_TRUE(patience.is_crowded(40 * ms));
    EXPECT_GT(patience.spin_ns(1000 * ms), 0) << "the neighbour may be gone";
    EXPECT_FALSE(patience.is_crowded(1000 * ms));
}

TEST(Patience, SoonForgetsAMoment)
{
    Patience patience;
    EXPECT_TRUE(patience.crowded(10 * ms, 600 * us)) << "the host's, say";
    EXPECT_EQ(patience.spin_ns(12 * ms), 0);
    EXPECT_GT(patience.spin_ns(20 * ms), 0);
    EXPECT_TRUE(patience.crowded(30 * ms, 90 * ms)) << "stopped and continued";
    EXPECT_GT(patience.spin_ns(131 * ms), 0);
}

} // namespace
} // namespace trencadis
