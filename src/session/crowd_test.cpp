#include "session/crowd.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(Crowd, IsThereWithAsManyCallersAsWorkers)
{
    for (const int workers : {2, 3}) {
        Crowd crowd(workers);
        EXPECT_FALSE(crowd.is_there(0));
        const Crowd::InProgress first(crowd);
        EXPECT_EQ(crowd.is_there(0), workers == 2);
    }
}

TEST(Crowd, IsRememberedBetweenCalls)
{
    Crowd crowd(2);
    {
        const Crowd::InProgress other(crowd);
        EXPECT_TRUE(crowd.is_there(10 * ms));
    }
    EXPECT_TRUE(crowd.is_there(10 * ms + ms / 2)) << "the other is about to call again";
    EXPECT_FALSE(crowd.is_there(11 * ms)) << "nobody has come meanwhile";
}

TEST(Crowd, IsSeenWhereOneOfItsCallsEnds)
{
    Crowd crowd(2);
    {
        const Crowd::InProgress one(crowd), other(crowd);
    }
    const std::int64_t now = now_ns();
    EXPECT_TRUE(crowd.is_there(now)) << "both are between two calls, of which each took longer than a crowd is remembered";
    EXPECT_FALSE(crowd.is_there(now + ms));
}

TEST(Crowd, IsNoneOfACallerWithOneWorker)
{
    Crowd crowd(1);
    EXPECT_FALSE(crowd.is_there(ms)) << "there is nobody to share with or to be left alone by";
    {
        const Crowd::InProgress only(crowd);
    }
    EXPECT_FALSE(crowd.is_there(now_ns()));
}

} // namespace
} // namespace trencadis
