#include "graph/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

TEST(SharedWork, HandsOutEachChunkOnceFromBothEnds)
{
    for (const Index count : {0, 1, 2, 3, 7, 64, 1000})
        for (const Index grain : {1, 3, 2000}) {
            SharedWork work(count, 1);
            std::vector<std::atomic<int>> times(static_cast<std::size_t>(count));
            const auto member = [&](bool joined) {
                Team team(work, nullptr, 1, joined);
                while (const Chunks chunks = team.next_of_two_ends(grain))
                    for (Index c = chunks.begin; c < chunks.end; ++c) ++times[std::size_t(c)];
                return team.taken();
            };
            std::atomic<Index> taken{0};
            std::vector<std::thread> joined;
            for (int i = 0; i < 3; ++i) joined.emplace_back([&] { taken += member(true); });
            taken += member(false);
            for (std::thread& thread : joined) thread.join();
            for (Index c = 0; c < count; ++c) EXPECT_EQ(times[std::size_t(c)], 1) << "chunk " << c << " of " << count;
            EXPECT_EQ(taken, count);
            EXPECT_EQ(work.remaining(), 0);
        }
}

TEST(SharedWork, GivesTheFirstChunksToTheOwnerAndTheLastToWhoJoined)
{
    SharedWork work(10, 1);
    Team owner(work), guest(work, nullptr, 1, true);
    const Chunks first = owner.next_of_two_ends(2), last = guest.next_of_two_ends(3);
    EXPECT_EQ(first.begin, 0);
    EXPECT_EQ(first.end, 2);
    EXPECT_EQ(last.begin, 7);
    EXPECT_EQ(last.end, 10);
    EXPECT_EQ(owner.remaining(), 5);
}

} // namespace
} // namespace trencadis
