#include "engines/simulated/chunk_plan.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

TEST(ChunkPlan, GivesALoneMemberAllChunks)
{
    ChunkPlan plan(7);
    const int alone = plan.join(1, 2);
    EXPECT_DOUBLE_EQ(plan.end(alone), 15);
    EXPECT_EQ(plan.left(1), 6);
    EXPECT_EQ(plan.left(3), 5) << "a chunk is taken as soon as the one before is done";
    EXPECT_EQ(plan.left(100), 0);
}

TEST(ChunkPlan, SplitsTheRestWithAMemberThatJoinsLater)
{
    ChunkPlan plan(8);
    const int owner = plan.join(0, 1);
    EXPECT_DOUBLE_EQ(plan.end(owner), 8);
    // At 2.5 the owner has its third chunk and five are left. The slow one takes one until 5.5, the owner one each at 3, 4 and 5;
    // the slow one is free for the last.
    const int slow = plan.join(2.5, 3);
    EXPECT_EQ(plan.left(2.5), 4);
    EXPECT_DOUBLE_EQ(plan.end(owner), 6);
    EXPECT_DOUBLE_EQ(plan.end(slow), 8.5);
}

TEST(ChunkPlan, GivesNothingToAMemberThatComesTooLate)
{
    ChunkPlan plan(2);
    const int owner = plan.join(0, 1);
    const int late = plan.join(1.5, 1);
    EXPECT_DOUBLE_EQ(plan.end(owner), 2);
    EXPECT_DOUBLE_EQ(plan.end(late), 1.5);
}

TEST(ChunkPlan, KeepsAChunkForAMemberThatIsReadyLater)
{
    ChunkPlan plan(8);
    plan.join(0, 1);
    EXPECT_TRUE(plan.has_chunk_at(6.5));
    EXPECT_FALSE(plan.has_chunk_at(7.5)) << "the last one begins at 7";
    const int other = plan.join(0.25, 1.5, 0.5);
    EXPECT_EQ(plan.left(0.25), 6);
    plan.set_chunk_time(other, 0.25, 1); // begins no sooner for that
    EXPECT_DOUBLE_EQ(plan.end(other), 4.5) << "it takes chunks at 1.5, 2.5 and 3.5";
    EXPECT_DOUBLE_EQ(plan.end(0), 5) << "and the first one the other five";
}

TEST(ChunkPlan, RescalesTheChunkInHandWhenAMemberChangesItsSpeed)
{
    ChunkPlan plan(3);
    const int owner = plan.join(0, 2);
    plan.set_chunk_time(owner, 1, 4); // half a chunk is left: 2; then two more of 4
    EXPECT_DOUBLE_EQ(plan.end(owner), 1 + 2 + 8);
}

} // namespace
} // namespace trencadis
