#include "threads/reluctance.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

TEST(Reluctance, StaysAwayAfterTasksThatWereShorterThanTheirTransfer)
{
    Reluctance reluctance;
    reluctance.begin(1000);
    reluctance.ran(30, 2500);
    ASSERT_TRUE(reluctance.stays_away());
    EXPECT_TRUE(reluctance.is_away(2500 + 64 * 1500 - 1));
    EXPECT_FALSE(reluctance.is_away(2500 + 64 * 1500));
}

TEST(Reluctance, NeverStaysAwayForLong)
{
    Reluctance reluctance;
    reluctance.begin(0);
    reluctance.ran(100, 1'000'000'000); // its core was somebody else's
    ASSERT_TRUE(reluctance.stays_away());
    EXPECT_TRUE(reluctance.is_away(1'000'000'000 + 199'999));
    EXPECT_FALSE(reluctance.is_away(1'000'000'000 + 200'000));
}

TEST(Reluctance, GoesOnWithTasksThatAreWorthIt)
{
    Reluctance reluctance;
    reluctance.begin(0);
    std::int64_t now = 0;
    for (int task = 0; task < 1000; ++task) {
        reluctance.ran(200, now += 2000);
        EXPECT_FALSE(reluctance.stays_away());
        EXPECT_FALSE(reluctance.is_away(now));
    }
}

TEST(Reluctance, ForgetsALongTaskSoonAfterIt)
{
    Reluctance reluctance;
    reluctance.begin(0);
    reluctance.ran(10'000'000, 10'000'000);
    EXPECT_FALSE(reluctance.stays_away());
    reluctance.ran(10, 10'001'500);
    EXPECT_TRUE(reluctance.stays_away());
}

TEST(Reluctance, HasNothingAgainstWhatItHasNotTried)
{
    Reluctance reluctance;
    EXPECT_FALSE(reluctance.stays_away());
    reluctance.begin(5'000'000);
    EXPECT_FALSE(reluctance.stays_away());
}

} // namespace
} // namespace trencadis
