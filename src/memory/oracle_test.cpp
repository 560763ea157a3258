// Random tasks in random order against memories that hold real values: every reader must see what the last writer wrote, whatever
// the order in which transfers start and end.
#include "memory/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::address, testing::Setting, testing::World;

Setting setting_of(std::uint64_t seed)
{
    return {seed,          static_cast<int>(1 + seed % 4), static_cast<int>(6 + seed % 17), seed % 3 != 0,
            seed % 5 == 0, static_cast<int>(1 + seed % 2)};
}

void every_reader_sees_the_last_writer(bool homes_anywhere)
{
    int tasks = 0;
    std::int64_t evictions = 0, written_back = 0, joined = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Setting setting = setting_of(seed);
        setting.homes_anywhere = homes_anywhere;
        if (homes_anywhere) setting.staged = seed % 3 != 0; // most devices have no direct way to each other
        World world(setting);
        world.run(600);
        world.bring_home();
        if (::testing::Test::HasFailure()) return;
        tasks += world.tasks_run();
        const MemoryStatistics s = world.replicas().statistics();
        written_back += s.written_back.count;
        for (const SpaceStatistics& space : s.spaces) {
            evictions += space.evictions;
            joined += space.joined;
        }
    }
    // Else the runs above would not have shown much.
    EXPECT_GT(tasks, 10000);
    EXPECT_GT(evictions, 1000);
    EXPECT_GT(written_back, 100);
    EXPECT_GT(joined, 100);
}

TEST(ReplicasAgainstRealMemories, EveryReaderSeesTheLastWriter) { every_reader_sees_the_last_writer(false); }

TEST(ReplicasAgainstRealMemories, EveryReaderSeesTheLastWriterWhereSomeDataAreAtHomeOnDevices)
{
    every_reader_sees_the_last_writer(true);
}

TEST(ReplicasAgainstRealMemories, ALargerValueWaitsForTheOneThatIsStillMoving)
{
    Replicas replicas({{"host"}, {"left", 300}, {"right", 300}});
    const std::vector<TaskDatum> small{{address(0), 100, AccessMode::write}}, large{{address(0), 200, AccessMode::write}},
        read{{address(0), 100, AccessMode::read}};
    EXPECT_EQ(replicas.acquire(small, 1).verdict, Verdict::now);
    replicas.release(small, 1);
    const Plan fetch = replicas.acquire(read, 2);
    replicas.release(read, 2, false); // given up; its data still come
    EXPECT_EQ(replicas.acquire(large, 1).verdict, Verdict::later);
    for (const Transfer& transfer : fetch.transfers) replicas.complete(transfer.id);
    EXPECT_EQ(replicas.acquire(large, 1).verdict, Verdict::now);
}

TEST(ReplicasAgainstRealMemories, TheSameRequestsGetTheSamePlans)
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        World first(setting_of(seed)), second(setting_of(seed));
        first.run(500);
        second.run(500);
        EXPECT_EQ(first.log(), second.log());
        EXPECT_FALSE(first.log().empty());
    }
}

} // namespace
} // namespace trencadis
