// What is left when a memory is lost, a copy fails, or there is less room than was counted.
#include "memory/replicas.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const void* datum(int number) { return reinterpret_cast<const void*>(std::uintptr_t(0x1000 + 0x1000 * number)); }
TaskDatum in(int number) { return {datum(number), 100, AccessMode::read}; }
TaskDatum out(int number) { return {datum(number), 100, AccessMode::write}; }
TaskDatum inout(int number) { return {datum(number), 100, AccessMode::readwrite}; }

struct LostMemory : ::testing::Test {
    static constexpr SpaceId host = 0, left = 1, right = 2;
    Replicas replicas{{{"host"}, {"left", 300}, {"right", 300}}};

    Plan run(const std::vector<TaskDatum>& data, SpaceId space)
    {
        Plan plan = replicas.acquire(data, space);
        EXPECT_EQ(plan.verdict, Verdict::now);
        for (const Transfer& transfer : plan.transfers) replicas.complete(transfer.id);
        replicas.release(data, space);
        return plan;
    }
};

TEST_F(LostMemory, LosesWhatIsNowhereElse)
{
    run({in(0), inout(1)}, left);
    EXPECT_THAT(replicas.lose(left), ElementsAre(datum(1)));
    for (const int number : {0, 1}) {
        EXPECT_FALSE(replicas.holds(datum(number), left));
        EXPECT_TRUE(replicas.holds(datum(number), host)) << "a lost value counts as being there, whatever it is";
    }
    EXPECT_EQ(replicas.used(left), 0);
    EXPECT_THAT(run({inout(1)}, right).transfers, SizeIs(1)) << "from home";
}

TEST_F(LostMemory, LosesNothingThatItsTasksWereAboutToWriteOrHadNotWritten)
{
    const std::vector<TaskDatum> task{in(0), inout(1), out(2)};
    const Plan plan = replicas.acquire(task, left);
    for (const Transfer& transfer : plan.transfers) replicas.complete(transfer.id);
    EXPECT_THAT(replicas.lose(left), IsEmpty());
    replicas.release(task, left, false);
    EXPECT_EQ(replicas.used(left), 0);
    EXPECT_THAT(run(task, host).transfers, IsEmpty()) << "it can be run at home";
    EXPECT_TRUE(replicas.holds(datum(2), host));
}

TEST_F(LostMemory, ATaskThatBeganAndGaveUpLeavesWhatItReadAndNothingOfWhatItWasToWrite)
{
    run({inout(3)}, left);
    const std::vector<TaskDatum> task{in(0), inout(1)}, again{in(0), inout(3)};
    const Plan plan = replicas.acquire(task, left);
    for (const Transfer& transfer : plan.transfers) replicas.complete(transfer.id);
    EXPECT_THAT(replicas.spoil(task, left), IsEmpty());
    replicas.release(task, left, false);
    EXPECT_TRUE(replicas.holds(datum(0), left));
    EXPECT_FALSE(replicas.holds(datum(1), left));
    EXPECT_THAT(run(task, host).transfers, IsEmpty()) << "it can be run at home";
    EXPECT_EQ(replicas.acquire(again, left).verdict, Verdict::now);
    EXPECT_THAT(replicas.spoil(again, left), ElementsAre(datum(3))) << "whose only value was there";
    replicas.release(again, left, false);
    EXPECT_FALSE(replicas.holds(datum(3), left));
    EXPECT_TRUE(replicas.holds(datum(0), left));
    EXPECT_EQ(replicas.used(left), 100);
}

TEST_F(LostMemory, IsNoSourceOfCopiesThatOthersHave)
{
    run({inout(0)}, left);
    run({in(0)}, host);
    run({in(0)}, right);
    EXPECT_THAT(replicas.lose(left), IsEmpty());
    EXPECT_THAT(run({in(0)}, host).transfers, IsEmpty());
    EXPECT_THAT(run({inout(0)}, right).transfers, IsEmpty());
    const Plan back = run({in(0)}, host);
    ASSERT_THAT(back.transfers, SizeIs(1));
    EXPECT_EQ(back.transfers[0].from, right);
}

TEST_F(LostMemory, ACopyThatFailedHasBroughtNothing)
{
    const std::vector<TaskDatum> task{in(0)};
    const Plan plan = replicas.acquire(task, left);
    replicas.fail(plan.transfers[0].id);
    EXPECT_FALSE(replicas.has_all(task, left));
    replicas.release(task, left, false);
    EXPECT_EQ(replicas.used(left), 0);
    EXPECT_THAT(run(task, left).transfers, SizeIs(1)) << "it is fetched anew";
}

TEST_F(LostMemory, TheLastCopyThatFailsOnItsWayHomeIsLostThere)
{
    run({inout(0)}, left);
    const std::vector<TaskDatum> task{in(0)};
    const Plan plan = replicas.acquire(task, host);
    EXPECT_THAT(replicas.lose(left), IsEmpty()) << "it is on its way";
    replicas.fail(plan.transfers[0].id);
    EXPECT_TRUE(replicas.has_all(task, host));
    replicas.release(task, host);
}

TEST_F(LostMemory, ACopyOfWhatIsOnItsWayIsWorthNothingWhereThatDoesNotCome)
{
    run({inout(0)}, left);
    const std::vector<TaskDatum> task{in(0)};
    const Plan first = replicas.acquire(task, right);
    EXPECT_THAT(replicas.lose(left), IsEmpty()) << "it is on its way";
    const Plan second = replicas.acquire(task, host);
    ASSERT_THAT(second.transfers, SizeIs(1));
    EXPECT_EQ(second.transfers[0].from, right);
    EXPECT_THAT(second.transfers[0].after, ElementsAre(first.transfers[0].id));
    EXPECT_FALSE(replicas.brings_nothing(second.transfers[0].id));
    EXPECT_TRUE(replicas.fail(first.transfers[0].id)) << "the other one would have copied from there";
    EXPECT_TRUE(replicas.brings_nothing(second.transfers[0].id));
    EXPECT_FALSE(replicas.has_all(task, right));
    EXPECT_FALSE(replicas.fail(second.transfers[0].id)) << "that is known";
    EXPECT_TRUE(replicas.has_all(task, host)) << "a lost value counts as being there, whatever it is";
    replicas.release(task, right, false);
    replicas.release(task, host, false);
    EXPECT_EQ(replicas.used(right), 0);
}

TEST_F(LostMemory, WhatDoesNotComeByOneWayIsAskedForAgainFromWhereItHasCome)
{
    constexpr SpaceId third = 3;
    replicas = Replicas({{"host"}, {"left", 300}, {"right", 300}, {"third", 300}});
    run({inout(0)}, left);
    const std::vector<TaskDatum> task{in(0)};
    const Plan first = replicas.acquire(task, right), other = replicas.acquire(task, third);
    EXPECT_THAT(replicas.lose(left), IsEmpty());
    const Plan second = replicas.acquire(task, host);
    ASSERT_EQ(second.transfers[0].from, right);
    EXPECT_FALSE(replicas.fail(first.transfers[0].id)) << "it comes to the third one";
    replicas.complete(other.transfers[0].id);
    replicas.release(task, host, false);
    const Plan again = replicas.acquire(task, host);
    ASSERT_THAT(again.transfers, SizeIs(1));
    EXPECT_EQ(again.transfers[0].from, third);
    EXPECT_THAT(again.transfers[0].after, ElementsAre(second.transfers[0].id)) << "which is still in its way there";
    EXPECT_FALSE(replicas.fail(second.transfers[0].id));
    replicas.complete(again.transfers[0].id);
    EXPECT_TRUE(replicas.has_all(task, host));
}

TEST_F(LostMemory, AValueThatIsLostIsSoOnceWhateverBecomesOfWhatIsOnItsWayHome)
{
    run({inout(0)}, left);
    const std::vector<TaskDatum> reads{in(0)}, writes{out(0)};
    const Plan old = replicas.acquire(reads, host);
    replicas.release(reads, host, false); // given up; its data still come
    EXPECT_EQ(replicas.acquire(writes, right).verdict, Verdict::now);
    replicas.release(writes, right);
    EXPECT_THAT(replicas.lose(right), ElementsAre(datum(0)));
    EXPECT_FALSE(replicas.fail(old.transfers[0].id)) << "what it should bring is of before";
    EXPECT_TRUE(replicas.has_all(reads, host));
}

TEST_F(LostMemory, RoomIsMadeOfWhatNobodyUses)
{
    run({in(0), inout(1)}, left);
    const std::vector<TaskDatum> task{in(2)};
    const Plan plan = replicas.acquire(task, left);
    Plan room;
    replicas.make_room(left, room);
    EXPECT_EQ(replicas.used(left), 100) << "what a task has stays";
    ASSERT_THAT(room.transfers, SizeIs(1)) << "what is nowhere else goes home first";
    EXPECT_EQ(room.transfers[0].data, datum(1));
    EXPECT_THAT(room.released, SizeIs(2));
    replicas.complete(room.transfers[0].id);
    for (const Transfer& transfer : plan.transfers) replicas.complete(transfer.id);
    replicas.release(task, left);
    replicas.limit(left, 150);
    EXPECT_EQ(replicas.acquire(std::vector{in(0), in(1)}, left).verdict, Verdict::never);
    EXPECT_THAT(run({in(0)}, left).transfers, SizeIs(1));
}

/// Two devices that reach each other by way of the host alone; datum 5 is at home on the left one.
struct HomeOnADevice : LostMemory {
    static Seconds between(SpaceId from, SpaceId to, Bytes bytes)
    {
        return from != host && to != host ? std::numeric_limits<Seconds>::infinity() : bytes;
    }
    HomeOnADevice()
    {
        replicas = Replicas({{"host"}, {"left", 300}, {"right", 300}}, {.cost = between, .home = {}});
        replicas.place(datum(5), 100, left);
    }
};

TEST_F(HomeOnADevice, GoesToAnotherByWayOfTheHost)
{
    EXPECT_DOUBLE_EQ(replicas.transfer_time(std::vector{in(5)}, right), 200);
    const Plan plan = run({inout(5)}, right);
    ASSERT_THAT(plan.transfers, SizeIs(2));
    EXPECT_EQ(plan.transfers[0].to, host);
    EXPECT_NE(plan.transfers[0].to_block, home_memory) << "the host has it as a copy";
    EXPECT_THAT(plan.transfers[1].after, ElementsAre(plan.transfers[0].id));
    EXPECT_THAT(run({in(5)}, left).transfers, SizeIs(2));
    EXPECT_TRUE(replicas.away().empty());
    EXPECT_EQ(replicas.used(left), 0) << "its home has it in its own memory";
}

TEST_F(HomeOnADevice, IsEvictedToTheHostAndComesHomeFromThere)
{
    run({inout(5)}, right);
    const Plan plan = run({in(0), in(1), in(2)}, right);
    EXPECT_FALSE(replicas.holds(datum(5), right));
    EXPECT_TRUE(replicas.holds(datum(5), host));
    EXPECT_FALSE(replicas.holds(datum(5), left));
    EXPECT_THAT(run({in(5)}, left).transfers, SizeIs(1));
}

TEST_F(HomeOnADevice, IsLostWithItWhereverCopiesAre)
{
    run({in(5)}, host);
    run({in(0)}, left);
    EXPECT_THAT(replicas.lose(left), ElementsAre(datum(5)));
    EXPECT_TRUE(replicas.holds(datum(5), host));
    EXPECT_TRUE(replicas.away().empty()) << "nobody waits for what cannot come";
    replicas.forget(datum(5));
    EXPECT_EQ(replicas.used(host), 0);
    std::vector<ReleasedBlock> released;
    replicas.release_idle(host, released);
    EXPECT_THAT(released, SizeIs(1));
}

TEST_F(HomeOnADevice, IsLostWhileItIsOnItsWayThere)
{
    run({inout(5)}, right);
    const Plan plan = replicas.acquire(std::vector{in(5)}, left);
    replicas.complete(plan.transfers[0].id);
    EXPECT_THAT(replicas.lose(left), ElementsAre(datum(5)));
    replicas.fail(plan.transfers[1].id);
    replicas.release(std::vector{in(5)}, left, false);
    EXPECT_TRUE(replicas.away().empty());
    replicas.forget(datum(5));
    for (const SpaceId space : {host, left, right}) EXPECT_EQ(replicas.used(space), 0);
}

} // namespace
} // namespace trencadis
