#include "session/crowd.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace trencadis {
namespace {

constexpr std::int64_t ms = 1'000'000;
using enum Crowd::Tasks;

TEST(Crowd, IsThereWithAsManyCallersAsWorkers)
{
    for (const int workers : {2, 3}) {
        Crowd crowd(workers);
        EXPECT_FALSE(crowd.is_there(0, 0, some));
        const Crowd::InProgress first(crowd);
        EXPECT_EQ(crowd.is_there(0, 0, some), workers == 2);
    }
}

TEST(Crowd, CountsThoseWhoCallAtOnce)
{
    Crowd crowd(4);
    EXPECT_EQ(crowd.callers(0), 1) << "the one who asks";
    const Crowd::InProgress one(crowd), other(crowd);
    EXPECT_EQ(crowd.callers(0), 3);
    crowd.is_there(10 * ms, ms, none, Crowd::this_thread() + 1);
    EXPECT_EQ(crowd.callers(15 * ms), 4) << "it takes longer than it could";
    crowd.one_is_over(14 * ms, Crowd::this_thread() + 1);
    EXPECT_EQ(crowd.callers(15 * ms), 3) << "the last one is over";
}

TEST(Crowd, IsRememberedBetweenCalls)
{
    Crowd crowd(2);
    {
        const Crowd::InProgress other(crowd);
        EXPECT_TRUE(crowd.is_there(10 * ms, 0, some));
    }
    EXPECT_TRUE(crowd.is_there(10 * ms + ms / 2, 0, some)) << "the other is about to call again";
    EXPECT_FALSE(crowd.is_there(11 * ms, 0, some)) << "nobody has come meanwhile";
}

TEST(Crowd, IsSeenWhereOneOfItsCallsEnds)
{
    Crowd crowd(2);
    {
        const Crowd::InProgress one(crowd), other(crowd);
    }
    const std::int64_t now = now_ns();
    EXPECT_TRUE(crowd.is_there(now, 0, some))
        << "both are between two calls, of which each took longer than a crowd is remembered";
    EXPECT_FALSE(crowd.is_there(now + ms, 0, some));
}

TEST(Crowd, HasThoseInItWhoseCallsHaveNoTasks)
{
    enum : unsigned { one, other };
    Crowd crowd(2);
    EXPECT_FALSE(crowd.is_there(10 * ms, ms / 10, none, one));
    EXPECT_FALSE(crowd.is_there(10 * ms + 1, ms / 10, none, one)) << "nobody else";
    crowd.one_is_over(11 * ms, one);
    crowd.is_there(20 * ms, ms, none, other);
    crowd.is_there(21 * ms, ms, none, other); // asks once more in the same call
    crowd.is_there(21 * ms, ms, some, other);
    EXPECT_TRUE(crowd.is_there(24 * ms, ms, none, one)) << "it takes longer than it could";
    crowd.one_is_over(25 * ms, one);
    crowd.one_is_over(26 * ms, other);
    EXPECT_TRUE(crowd.is_there(27 * ms, ms, none, one)) << "the other may be about to call again";
    crowd.one_is_over(28 * ms, one);
    EXPECT_FALSE(crowd.is_there(29 * ms, ms, none, one)) << "it was over long ago";
}

TEST(Crowd, IsSeenByCallersWhoseCallsBeginAtTheSameDistance)
{
    enum : unsigned { one, other };
    Crowd crowd(2);
    crowd.is_there(0, ms, none, one);
    for (std::int64_t now = 8 * ms; now < 90 * ms; now += 8 * ms) {
        EXPECT_TRUE(crowd.is_there(now - 4 * ms, ms, none, other)) << "each takes four times as long as it could";
        crowd.one_is_over(now - ms, one);
        EXPECT_TRUE(crowd.is_there(now, ms, none, one));
        crowd.one_is_over(now + 3 * ms, other);
    }
}

TEST(Crowd, IsSeenByCallersWhoCallAtTheSameTime)
{
    enum : unsigned { one, other };
    Crowd crowd(2);
    for (std::int64_t now = 0; now < 90 * ms; now += 20 * ms) {
        EXPECT_EQ(crowd.is_there(now, ms, none, one), now > 0) << "the other is between two calls";
        EXPECT_TRUE(crowd.is_there(now + 1, ms, none, other));
        crowd.one_is_over(now + 19 * ms + 1, one); // far longer than a crowd is remembered
        crowd.one_is_over(now + 19 * ms + 2, other);
    }
}

TEST(Crowd, IsNoneOfCallersWhoComeOneAfterTheOther)
{
    Crowd crowd(2);
    const unsigned here = Crowd::this_thread();
    for (std::int64_t now = ms; now < 9 * ms; now += 2 * ms) {
        EXPECT_FALSE(crowd.is_there(now, 9 * ms, none));
        crowd.one_is_over(now + ms / 2, here);
        EXPECT_FALSE(crowd.is_there(now + ms, ms, none, here + 1));
        crowd.one_is_over(now + 2 * ms, here + 1);
    }
}

TEST(Crowd, DoesNotWaitForOneThatIsNeverOver)
{
    enum : unsigned { one, other };
    Crowd crowd(2);
    crowd.is_there(0, ms, none, other);
    EXPECT_TRUE(crowd.is_there(20 * ms, 0, none, one));
    EXPECT_FALSE(crowd.is_there(50 * ms, 0, none, one)) << "its thread was ended in the middle of it";
}

TEST(Crowd, HasACallThatIsLeftToItsCaller)
{
    enum : unsigned { one, other };
    Crowd crowd(2);
    crowd.one_begins_alone(0, ms, one);
    EXPECT_TRUE(crowd.is_there(5 * ms, ms, some, other)) << "whether it has tasks or not";
    crowd.one_is_over(5 * ms, one);
    EXPECT_FALSE(crowd.is_there(9 * ms, ms, some, other));
}

TEST(Crowd, IsForgottenWhereTheClockGoesBack)
{
    Crowd crowd(2);
    {
        const Crowd::InProgress other(crowd);
        EXPECT_TRUE(crowd.is_there(900 * ms, 0, some));
    }
    EXPECT_FALSE(crowd.is_there(2 * ms, 0, some));
    EXPECT_FALSE(crowd.is_there(900 * ms, 0, some));
    enum : unsigned { one, other };
    crowd.is_there(990 * ms, ms, none, other);
    crowd.is_there(3 * ms, ms, none, other);
    EXPECT_FALSE(crowd.is_there(80 * ms, 0, none, one)) << "its call was over soon after it began";
}

TEST(Crowd, IsRememberedLongerByLongCalls)
{
    Crowd crowd(2);
    {
        const Crowd::InProgress other(crowd);
        EXPECT_TRUE(crowd.is_there(0, 0, some));
    }
    EXPECT_TRUE(crowd.is_there(10 * ms, 5 * ms, some));
    EXPECT_FALSE(crowd.is_there(10 * ms, 4 * ms, some));
}

TEST(Crowd, IsOfAsManyAsThereAreWorkers)
{
    constexpr unsigned workers = 20;
    Crowd crowd(workers);
    for (unsigned i = 1; i < workers; ++i) EXPECT_FALSE(crowd.is_there(ms, 9 * ms, none, i));
    EXPECT_TRUE(crowd.is_there(2 * ms, 9 * ms, none, workers));
}

TEST(Crowd, CountsACallOnceThatComesToHaveTasks)
{
    Crowd crowd(3);
    const unsigned here = Crowd::this_thread();
    crowd.is_there(ms, 9 * ms, none);
    const Crowd::InProgress call(crowd);
    EXPECT_FALSE(crowd.is_there(2 * ms, 9 * ms, none, here + 1)) << "they are two";
    EXPECT_TRUE(crowd.is_there(2 * ms, 9 * ms, none, here + 2));
}

TEST(Crowd, TellsThreadsApart)
{
    unsigned other = Crowd::this_thread();
    std::thread([&] { other = Crowd::this_thread(); }).join();
    EXPECT_NE(other, Crowd::this_thread());
    EXPECT_EQ(Crowd::this_thread(), Crowd::this_thread());
}

TEST(Crowd, IsNoneOfACallerWithOneWorker)
{
    Crowd crowd(1);
    EXPECT_FALSE(crowd.is_there(ms, 0, some)) << "there is nobody to share with or to be left alone by";
    {
        const Crowd::InProgress only(crowd);
    }
    EXPECT_FALSE(crowd.is_there(now_ns(), 0, some));
}

} // namespace
} // namespace trencadis
