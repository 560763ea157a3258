#include "engines/native/wariness.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(Wariness, IsOffUntilAMemberIsLate)
{
    const Wariness wariness;
    EXPECT_FALSE(wariness.is_on(0));
    EXPECT_FALSE(wariness.is_on(5000 * ms));
}

TEST(Wariness, IsShortWhereItHappensOnce)
{
    Wariness wariness;
    for (const std::int64_t now : {1000 * ms, 1050 * ms, 2000 * ms}) {
        wariness.was_late(ms, now);
        EXPECT_TRUE(wariness.is_on(now + 4 * ms - 1));
        EXPECT_FALSE(wariness.is_on(now + 4 * ms)) << "the last time was long ago";
    }
}

/// A neighbour's turns: the pauses double up to the longest.
TEST(Wariness, LastsTwiceAsLongWhereItHappensAgainSoon)
{
    Wariness wariness;
    std::int64_t now = 1000 * ms;
    for (const std::int64_t pause : {4, 20, 40, 80, 160, 200, 200}) {
        wariness.was_late(ms, now);
        EXPECT_TRUE(wariness.is_on(now + pause * ms - 1)) << pause;
        EXPECT_FALSE(wariness.is_on(now + pause * ms)) << pause;
        now += pause * ms + std::max<std::int64_t>(pause / 2, 15) * ms;
    }
    wariness.was_late(ms, now += 1000 * ms);
    EXPECT_FALSE(wariness.is_on(now + 4 * ms)) << "it was calm for long";
}

TEST(Wariness, LastsNoLongerThanTheLongest)
{
    Wariness wariness;
    wariness.was_late(3000 * ms, 9000 * ms);
    EXPECT_TRUE(wariness.is_on(9000 * ms + Wariness::longest_ns - 1));
    EXPECT_FALSE(wariness.is_on(9000 * ms + Wariness::longest_ns));
}

} // namespace
} // namespace trencadis
