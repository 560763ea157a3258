#include "engines/native/membership.hpp"
#include "observe/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace trencadis {
namespace {

TEST(Memberships, EndForTheirOwnerWithTheLastOneOut)
{
    Membership members;
    ASSERT_TRUE(members.claim());
    EXPECT_FALSE(members.claim());
    members.open();
    ASSERT_TRUE(members.try_join());
    EXPECT_FALSE(members.leave(true));
    EXPECT_FALSE(members.try_join()) << "it is closed";
    EXPECT_FALSE(members.deserted());
    members.sleep(1);
    EXPECT_FALSE(members.deserted()) << "to sleep and to return early changes nothing";
    EXPECT_TRUE(members.leave(false));
    EXPECT_TRUE(members.deserted());
    members.sleep(3600'000'000'000); // the last one is out: no sleep
    EXPECT_TRUE(members.deserted());
    members.retire();
    EXPECT_TRUE(members.unused());
    EXPECT_TRUE(members.claim());
}

/// Whenever the last one leaves, before the owner sleeps, while it falls asleep or after.
TEST(Memberships, WakeAnOwnerThatSleeps)
{
    Membership members;
    const std::int64_t begin = now_ns();
    for (int round = 0; round < 2000; ++round) {
        ASSERT_TRUE(members.claim());
        members.open();
        ASSERT_TRUE(members.try_join());
        std::thread member([&] {
            for (const std::int64_t until = now_ns() + 50 * (round % 1000); now_ns() < until;) relax();
            members.leave(false);
        });
        if (!members.leave(true))
            while (!members.deserted()) members.sleep(3600'000'000'000);
        member.join();
        members.retire();
    }
    EXPECT_LT(now_ns() - begin, 600'000'000'000);
}

} // namespace
} // namespace trencadis
