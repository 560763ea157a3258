#include "engines/native/line_cost.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

constexpr std::int64_t s = 1'000'000'000;

TEST(LineCost, FollowsWhatIsSeen)
{
    LineCost cost;
    EXPECT_EQ(cost.ns(s), LineCost::usual_ns);
    cost.note(1'000'000, s);
    EXPECT_LE(cost.ns(s), 60) << "an interrupt the first time";
    for (int i = 0; i < 30; ++i) cost.note(80, s);
    EXPECT_NEAR(cost.ns(s), 80, 1);
    for (int i = 0; i < 9; ++i) cost.note(12, s);
    EXPECT_NEAR(cost.ns(s), 12, 2);
    cost.note(1'000'000, s);
    EXPECT_LE(cost.ns(s), 15) << "one interrupt";
}

/// Or nobody would find out that cores are close again.
TEST(LineCost, IsTheUsualOneWhereNothingWasSeenForLong)
{
    LineCost cost;
    for (int i = 0; i < 20; ++i) cost.note(80, s);
    EXPECT_EQ(cost.ns(3 * s), LineCost::usual_ns);
    cost.note(80, 3 * s);
    EXPECT_NEAR(cost.ns(3 * s), 80, 8) << "what was known is not forgotten";
}

TEST(LineCost, IsReadOnceForEachTimeThatItWasWritten)
{
    LineCost cost;
    constexpr std::int64_t far = 10'000; // what lies in this core's cache comes sooner, under a sanitizer as well
    for (int i = 0; i < 50; ++i) cost.note(far, now_ns());
    const auto seen = [&] { return cost.ns(now_ns()); };
    const std::int64_t before = seen();
    ASSERT_GT(before, far / 2);
    cost.read(1);
    EXPECT_EQ(seen(), before) << "nobody has written";
    cost.write(0, now_ns());
    cost.read(0);
    EXPECT_EQ(seen(), before) << "who wrote has them";
    cost.read(1);
    const std::int64_t once = seen();
    EXPECT_LT(once, before);
    cost.read(1);
    cost.write(0, now_ns());
    cost.read(1);
    EXPECT_EQ(seen(), once) << "too soon";
    cost.write(0, now_ns() + 2 * LineCost::seldom_ns - s); // as if long ago
    cost.read(1);
    EXPECT_EQ(seen(), once) << "it may have left all caches";
}

} // namespace
} // namespace trencadis
