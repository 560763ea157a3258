#include "engines/native/wake_cost.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

constexpr std::int64_t now = 5'000'000'000;

/// What a call takes with so many woken, as the class says.
double time_with(int woken, double alone, int awake, double call, double delay)
{
    return woken * call + (alone + woken * delay) / (1 + awake + woken);
}

TEST(WakeCost, WakesAsManyAsMakeTheCallShortest)
{
    const WakeCost cost;
    for (const double alone : {1e3, 3e4, 1e5, 4e5, 2e6, 1e7})
        for (const int awake : {0, 1, 3})
            for (const int asleep : {0, 1, 7, 60}) {
                const int chosen = cost.helpers(alone, awake, asleep, now);
                ASSERT_LE(chosen, asleep);
                const auto time = [&](int woken) {
                    return time_with(woken, alone, awake, WakeCost::usual_call_ns, WakeCost::usual_delay_ns);
                };
                const double without = time(0);
                for (int other = 0; other <= asleep; ++other)
                    EXPECT_LE(chosen ? time(chosen) : WakeCost::worth_it * without, time(other) + 1e-6)
                        << alone << " ns, " << awake << " awake, " << asleep << " asleep: " << chosen;
                if (chosen) {
                    EXPECT_LT(time(chosen), WakeCost::worth_it * without);
                }
            }
}

TEST(WakeCost, LearnsFromWhatItSees)
{
    WakeCost cost;
    const double alone = 2e5;
    ASSERT_EQ(cost.helpers(alone, 0, 1, now), 1);
    for (int i = 0; i < 20; ++i) cost.note_delay(1'000'000, now); // that core is somebody else's
    EXPECT_EQ(cost.helpers(alone, 0, 1, now), 0);
    EXPECT_EQ(cost.helpers(10 * alone, 0, 1, now), 1);
    for (int i = 0; i < 20; ++i) cost.note_delay(2'000, now);
    for (int i = 0; i < 20; ++i) cost.note_call(1'000, now);
    EXPECT_EQ(cost.helpers(alone / 10, 0, 1, now), 1);
}

TEST(WakeCost, ForgetsWhatWasLongAgo)
{
    WakeCost cost;
    const double alone = 2e5;
    for (int i = 0; i < 20; ++i) cost.note_delay(1'000'000, now);
    ASSERT_EQ(cost.helpers(alone, 0, 1, now + WakeCost::lasting_ns), 0);
    EXPECT_EQ(cost.helpers(alone, 0, 1, now + WakeCost::lasting_ns + 1), 1);
}

} // namespace
} // namespace trencadis
