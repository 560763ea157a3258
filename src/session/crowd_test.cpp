#include "session/crowd.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(Crowd, IsThereWithAsManyCallersAsWorkers)
{
    Crowd crowd;
    EXPECT_FALSE(crowd.is_there(2, 0));
    const Crowd::InProgress first(crowd);
    EXPECT_FALSE(crowd.is_there(3, 0));
    EXPECT_TRUE(crowd.is_there(2, 0));
}

TEST(Crowd, IsRememberedBetweenCalls)
{
    Crowd crowd;
    {
        const Crowd::InProgress other(crowd);
        EXPECT_TRUE(crowd.is_there(2, 10 * ms));
    }
    EXPECT_TRUE(crowd.is_there(2, 10 * ms + ms / 2)) << "the other is about to call again";
    EXPECT_FALSE(crowd.is_there(2, 11 * ms)) << "nobody has come meanwhile";
}

TEST(Crowd, IsNoneOfACallerWithOneWorker)
{
    Crowd crowd;
    EXPECT_FALSE(crowd.is_there(1, ms)) << "there is nobody to share with or to be left alone by";
}

} // namespace
} // namespace trencadis
