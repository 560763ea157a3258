#include "session/crowd_pace.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

/// Calls of two callers one after the other, each of which takes what the way that it goes takes.
struct Callers {
    CrowdPace pace;
    std::int64_t now = 0;
    int alone = 0, shared = 0;

    void call(int times, std::int64_t alone_ns, std::int64_t shared_ns)
    {
        alone = shared = 0;
        for (int i = 0; i < times; ++i) {
            const bool here = pace.goes_alone(5e8, now);
            ++(here ? alone : shared);
            now += here ? alone_ns : shared_ns;
        }
    }
};

constexpr std::int64_t ms = 1'000'000;

TEST(CrowdPace, BeginsShared)
{
    Callers callers;
    callers.call(9, 5 * ms, 5 * ms);
    EXPECT_EQ(callers.shared, 9);
}

TEST(CrowdPace, TakesTheFasterWayMostOfTheTime)
{
    Callers callers;
    callers.call(2000, 5 * ms, 6 * ms);
    EXPECT_GT(callers.alone, 1600);
    EXPECT_GT(callers.shared, 20) << "the other way is tried again";
    EXPECT_LT(callers.shared, 60) << "but not for long";
    Callers others;
    others.call(2000, 6 * ms, 5 * ms);
    EXPECT_GT(others.shared, 1600);
    EXPECT_GT(others.alone, 30);
}

TEST(CrowdPace, TriesWhatIsFarBehindSeldom)
{
    Callers far, near;
    far.call(10'000, 5 * ms, 6 * ms); // 50 seconds
    near.call(10'000, 5 * ms, 5 * ms + ms / 10);
    EXPECT_LT(far.shared, 100);
    EXPECT_GT(far.shared, 50);
    EXPECT_GT(near.shared, 250) << "the next try may show that it is ahead";
    EXPECT_LT(near.shared, 450);
}

TEST(CrowdPace, NoticesInSecondsThatTheOtherWayHasBecomeFaster)
{
    Callers callers;
    callers.call(10'000, 5 * ms, 6 * ms);
    callers.call(2'000, 5 * ms, 3 * ms);
    callers.call(1'000, 5 * ms, 3 * ms);
    EXPECT_GT(callers.shared, 900);
}

TEST(CrowdPace, NoticesThatTheOtherWayHasBecomeFaster)
{
    Callers callers;
    callers.call(2000, 5 * ms, 6 * ms);
    callers.call(1000, 7 * ms, 5 * ms); // five seconds
    callers.call(1000, 7 * ms, 5 * ms);
    EXPECT_GT(callers.shared, 750);
}

TEST(CrowdPace, DoesNotCountTimeInWhichNobodyCalls)
{
    for (const std::int64_t pause : {50 * ms, 150 * ms, 250 * ms, 10'000 * ms}) {
        Callers callers;
        callers.call(400, 5 * ms, 6 * ms);
        int alone = 0;
        for (int i = 0; i < 40; ++i) {
            callers.now += pause;
            callers.call(i % 5 * 10 + 10, 5 * ms, 6 * ms); // 50 to 300 ms
            alone += callers.alone;
        }
        EXPECT_GT(alone, 1080) << "of 1200, with pauses of " << pause / ms << " ms";
    }
}

} // namespace
} // namespace trencadis
