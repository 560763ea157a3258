#include "session/survey_times.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <vector>

namespace trencadis {
namespace {

/// On a link of 1 GB/s, with 1 ms of latency; a neighbour holds the first one of each size up for 50 ms.
TEST(RateOfCopies, IsNotThatOfOneThatANeighbourHasHeldUp)
{
    std::map<std::size_t, int> made;
    const auto time = [&](std::size_t bytes) { return 1e-3 + double(bytes) / 1e9 + (made[bytes]++ ? 0 : 50e-3); };
    EXPECT_NEAR(rate_of_copies(64 << 20, 1e-3, time), 1e9, 1);
    EXPECT_EQ(made.rbegin()->first, std::size_t(8) << 20) << "the first that takes 5 ms";
}

TEST(RateOfCopies, OfASlowLinkIsThatOfTheSmallestAndOfLittleMemoryThatOfAllOfIt)
{
    const auto slow = [](std::size_t bytes) { return double(bytes) / 1e6; };
    EXPECT_NEAR(rate_of_copies(64 << 20, 0, slow), 1e6, 1);
    const auto quick = [](std::size_t bytes) { return 1e-6 + double(bytes) / 1e9; };
    EXPECT_NEAR(rate_of_copies(1 << 20, 1e-6, quick), 1e9, 1);
    EXPECT_NEAR(rate_of_copies(1000, 5e-3, [](std::size_t) { return 5e-3; }), 1000 / 5e-4, 1) << "all of it is latency";
}

/// Of 1 Gflop, by what comes of each time in turn.
Seconds of_times(std::vector<Seconds> each, double below, int passed_over, int wanted)
{
    std::size_t made = 0;
    const auto times = [&](Seconds) { return wanted; };
    const Seconds took = time_of_kernel(1e9, below, passed_over, times, [&] { return each.at(made++); });
    EXPECT_EQ(made, each.size());
    return took;
}

TEST(TimeOfAKernel, IsTheShortestAndTheFirstOneIsPassedOver)
{
    EXPECT_EQ(of_times({0.3, 0.1, 0.2, 0.4}, 0, 0, 4), 0.1);
    EXPECT_EQ(of_times({0.1, 0.3, 0.2}, 0, 1, 3), 0.2) << "also a first one that was quicker";
}

TEST(TimeOfAKernel, IsTakenAgainWhileItIsNotHalfAsFastAsASmallerOne)
{
    EXPECT_EQ(of_times({1, 1, 1, 0.9, 0.11}, 10e9, 0, 3), 0.11);
    EXPECT_EQ(of_times({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 10e9, 1, 3), 1) << "it is so";
    EXPECT_EQ(of_times({0.15, 0.15, 0.15}, 10e9, 1, 3), 0.15);
}

} // namespace
} // namespace trencadis
