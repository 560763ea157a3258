#include "memory/replicas.hpp"

#include "base/error.hpp"
#include "memory/machine_spaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Addresses that nobody touches.
const void* datum(int number) { return reinterpret_cast<const void*>(std::uintptr_t(0x1000 + 0x1000 * number)); }
TaskDatum in(int number, Bytes bytes = 100) { return {datum(number), bytes, AccessMode::read}; }
TaskDatum out(int number, Bytes bytes = 100) { return {datum(number), bytes, AccessMode::write}; }
TaskDatum inout(int number, Bytes bytes = 100) { return {datum(number), bytes, AccessMode::readwrite}; }
TaskDatum together(int number, Bytes bytes = 100) { return {datum(number), bytes, AccessMode::concurrent_write}; }

/// Main memory and two devices with room for three data of 100 bytes; everything is moved as soon as it is planned.
class OneHostTwoDevices : public ::testing::Test {
protected:
    static constexpr SpaceId host = 0, left = 1, right = 2;
    Replicas replicas{{{"host"}, {"left", 300}, {"right", 300}}};

    Plan acquire(std::vector<TaskDatum> data, SpaceId space) { return replicas.acquire(data, space); }
    void release(std::vector<TaskDatum> data, SpaceId space, bool ran = true) { replicas.release(data, space, ran); }
    void complete(const Plan& plan)
    {
        for (const Transfer& transfer : plan.transfers) replicas.complete(transfer.id);
    }
    Plan run(std::vector<TaskDatum> data, SpaceId space)
    {
        Plan plan = acquire(data, space);
        EXPECT_EQ(plan.verdict, Verdict::now);
        complete(plan);
        release(data, space);
        return plan;
    }
};

TEST_F(OneHostTwoDevices, ATaskAtHomeMovesNothing)
{
    const Plan plan = run({in(0), inout(1)}, host);
    EXPECT_THAT(plan.transfers, IsEmpty());
    EXPECT_THAT(plan.wait_for, IsEmpty());
    EXPECT_EQ(plan.working_set, 0);
}

TEST_F(OneHostTwoDevices, WhatIsReadIsFetchedOnceAndStaysValidInBothPlaces)
{
    const Plan first = run({in(0)}, left);
    ASSERT_THAT(first.transfers, SizeIs(1));
    EXPECT_EQ(first.transfers[0].from, host);
    EXPECT_EQ(first.transfers[0].to, left);
    EXPECT_EQ(first.transfers[0].bytes, 100);
    EXPECT_EQ(first.transfers[0].reason, TransferReason::fetch);
    EXPECT_THAT(first.wait_for, ElementsAre(first.transfers[0].id));
    EXPECT_THAT(run({in(0)}, left).transfers, IsEmpty());
    EXPECT_THAT(run({in(0)}, host).transfers, IsEmpty());
    EXPECT_EQ(replicas.statistics().spaces[left].hits, 1);
    EXPECT_EQ(replicas.statistics().spaces[left].misses, 1);
}

TEST_F(OneHostTwoDevices, AWriteLeavesOneValidCopyThatComesHomeWhenSomebodyNeedsIt)
{
    run({in(0)}, right);
    run({inout(0)}, left);
    EXPECT_TRUE(replicas.holds(datum(0), left));
    EXPECT_FALSE(replicas.holds(datum(0), host));
    EXPECT_FALSE(replicas.holds(datum(0), right));
    EXPECT_EQ(replicas.used(right), 0) << "a copy that is not valid gives its block back";
    EXPECT_THAT(replicas.away(), SizeIs(1));
    const Plan back = run({in(0)}, host);
    ASSERT_THAT(back.transfers, SizeIs(1));
    EXPECT_EQ(back.transfers[0].from, left);
    EXPECT_THAT(replicas.away(), IsEmpty());
    EXPECT_TRUE(replicas.holds(datum(0), left)) << "reading does not take it away";
}

TEST_F(OneHostTwoDevices, WhatIsOnlyWrittenIsNotFetched)
{
    const Plan plan = run({out(0)}, left);
    EXPECT_THAT(plan.transfers, IsEmpty());
    EXPECT_TRUE(replicas.holds(datum(0), left) && !replicas.holds(datum(0), host));
    run({inout(0)}, left);
    EXPECT_THAT(run({out(0, 50)}, host).transfers, SizeIs(1)) << "but the rest of what is written in part is";
}

TEST_F(OneHostTwoDevices, ASecondTaskWaitsForTheTransferThatIsUnderWay)
{
    const Plan first = acquire({in(0)}, left);
    const Plan second = acquire({in(0), in(1)}, left);
    EXPECT_THAT(second.transfers, SizeIs(1));
    EXPECT_THAT(second.wait_for, ElementsAre(first.transfers[0].id, second.transfers[0].id));
    EXPECT_EQ(replicas.statistics().spaces[left].joined, 1);
}

TEST_F(OneHostTwoDevices, TheLeastRecentlyUsedCopyMakesRoom)
{
    for (int d : {0, 1, 2, 0}) run({in(d)}, left);
    EXPECT_THAT(run({in(3)}, left).transfers, SizeIs(1)) << "a clean copy goes without a write-back";
    EXPECT_TRUE(replicas.holds(datum(0), left));
    EXPECT_FALSE(replicas.holds(datum(1), left));
    EXPECT_TRUE(replicas.holds(datum(2), left));
    const SpaceStatistics s = replicas.statistics().spaces[left];
    EXPECT_EQ(s.evictions, 1);
    EXPECT_EQ(s.fresh_blocks, 3);
    EXPECT_EQ(s.reused_blocks, 1);
    EXPECT_EQ(s.peak_bytes, 300);
}

TEST_F(OneHostTwoDevices, TheOnlyValidCopyIsWrittenBackBeforeItsBlockIsFilled)
{
    run({inout(0)}, left);
    run({in(1), in(2)}, left);
    const Plan plan = acquire({in(3)}, left);
    ASSERT_THAT(plan.transfers, SizeIs(2));
    EXPECT_EQ(plan.transfers[0].reason, TransferReason::write_back);
    EXPECT_EQ(plan.transfers[0].data, datum(0));
    EXPECT_EQ(plan.transfers[0].to, host);
    EXPECT_THAT(plan.transfers[1].after, ElementsAre(plan.transfers[0].id));
    EXPECT_THAT(plan.wait_for, ElementsAre(plan.transfers[1].id));

    const Plan reader = acquire({in(0)}, right);
    ASSERT_THAT(reader.transfers, SizeIs(1));
    EXPECT_EQ(reader.transfers[0].from, host) << "its block in left is promised to another";
    EXPECT_THAT(reader.transfers[0].after, ElementsAre(plan.transfers[0].id));
}

TEST_F(OneHostTwoDevices, ATaskThatOnlyWritesWaitsForTheWriteBackOfTheBlockItTakes)
{
    run({inout(0), inout(1), inout(2)}, left);
    const Plan plan = acquire({out(3)}, left);
    ASSERT_THAT(plan.transfers, SizeIs(1));
    EXPECT_THAT(plan.wait_for, ElementsAre(plan.transfers[0].id));
}

TEST_F(OneHostTwoDevices, ACopyThatIsAlsoValidElsewhereNeedsNoWriteBack)
{
    run({inout(0)}, left);
    run({in(0)}, right);
    run({in(1), in(2), in(3)}, left);
    EXPECT_EQ(replicas.statistics().written_back.count, 0);
    EXPECT_TRUE(replicas.holds(datum(0), right));
}

TEST_F(OneHostTwoDevices, WhatTasksInFlightUseIsNotEvicted)
{
    const Plan first = acquire({in(0), in(1)}, left);
    complete(first);
    EXPECT_EQ(acquire({in(2), in(3)}, left).verdict, Verdict::later);
    EXPECT_THAT(replicas.statistics().fetched.count, 2) << "a task that must wait changes nothing";
    EXPECT_EQ(acquire({in(2)}, left).verdict, Verdict::now);
    release({in(0), in(1)}, left);
    EXPECT_EQ(acquire({in(3), in(4)}, left).verdict, Verdict::now);
}

TEST_F(OneHostTwoDevices, ASourceIsNotEvictedWhileItIsRead)
{
    run({inout(0)}, left);
    const Plan away = acquire({in(0)}, right);
    EXPECT_EQ(acquire({in(1), in(2), in(3)}, left).verdict, Verdict::later);
    complete(away);
    EXPECT_EQ(acquire({in(1), in(2), in(3)}, left).verdict, Verdict::now);
}

TEST_F(OneHostTwoDevices, ATaskTooLargeForTheSpaceIsToldSo)
{
    const Plan plan = acquire({in(0), in(1), in(2), in(3)}, left);
    EXPECT_EQ(plan.verdict, Verdict::never);
    EXPECT_EQ(plan.working_set, 400);
    EXPECT_FALSE(replicas.fits(std::vector{in(0, 301)}, left));
    EXPECT_TRUE(replicas.fits(std::vector{in(0), in(1), in(2), in(3)}, host));
}

TEST_F(OneHostTwoDevices, BlocksOfOtherSizesAreGivenUpOnlyWhenRoomIsNeeded)
{
    run({in(0, 60), in(1, 60)}, left);
    run({inout(0, 60), inout(1, 60)}, host); // both copies in left are idle blocks now
    run({in(2, 150)}, left);
    EXPECT_EQ(replicas.statistics().spaces[left].released_blocks, 0);
    run({in(3, 100)}, left);
    EXPECT_EQ(replicas.statistics().spaces[left].released_blocks, 2) << "150 + 60 + 60 + 100 > 300, and so without one of them";
    EXPECT_EQ(replicas.used(left), 250);
}

TEST_F(OneHostTwoDevices, PlansSayWhichBlockIsFilledReadAndGivenUp)
{
    const Plan first = run({inout(0)}, left);
    EXPECT_EQ(first.transfers[0].from_block, home_memory);
    EXPECT_EQ(first.transfers[0].to_block, replicas.block(datum(0), left));
    run({in(1), in(2)}, left);
    const Plan second = acquire({in(3)}, left);
    EXPECT_EQ(second.transfers[0].from_block, first.transfers[0].to_block) << "the write-back";
    EXPECT_EQ(second.transfers[1].to_block, first.transfers[0].to_block) << "the same memory is filled again";
    complete(second);
    release({in(3)}, left);
    const Plan larger = acquire({in(4, 150)}, left);
    ASSERT_THAT(larger.released, SizeIs(2)) << "two blocks of 100 make room for one of 150";
    EXPECT_EQ(larger.released[0].space, left);
    EXPECT_EQ(larger.released[0].reader, no_transfer);
}

TEST_F(OneHostTwoDevices, ABlockGivenUpWaitsForItsReader)
{
    run({inout(0), in(1), in(2)}, left);
    const Plan plan = acquire({in(3, 300)}, left);
    ASSERT_THAT(plan.released, SizeIs(3));
    ASSERT_THAT(plan.transfers, SizeIs(2));
    EXPECT_EQ(plan.released[0].reader, plan.transfers[0].id) << "its contents are still on their way home";
    EXPECT_THAT(plan.transfers[1].after, ElementsAre(plan.transfers[0].id));
}

TEST_F(OneHostTwoDevices, ConcurrentWritersShareOneMemoryButNotTwo)
{
    const Plan first = acquire({together(0)}, left);
    complete(first);
    EXPECT_EQ(acquire({together(0)}, left).verdict, Verdict::now);
    EXPECT_EQ(acquire({together(0)}, right).verdict, Verdict::later);
    release({together(0)}, left);
    EXPECT_EQ(acquire({together(0)}, right).verdict, Verdict::later);
    release({together(0)}, left);
    const Plan other = acquire({together(0)}, right);
    ASSERT_THAT(other.transfers, SizeIs(1));
    EXPECT_EQ(other.transfers[0].from, left);
}

TEST_F(OneHostTwoDevices, AWriteBackThatArrivesLateDoesNotOverwriteANewerVersion)
{
    run({inout(0)}, left);
    run({in(1), in(2)}, left);
    const Plan evicting = acquire({in(3)}, left); // 0 is on its way home
    run({out(0)}, right);
    complete(evicting);
    EXPECT_FALSE(replicas.holds(datum(0), host));
    EXPECT_TRUE(replicas.holds(datum(0), right));
}

TEST_F(OneHostTwoDevices, AGivenUpTaskChangesNoVersion)
{
    const Plan plan = acquire({inout(0)}, left);
    complete(plan);
    release({inout(0)}, left, false);
    EXPECT_TRUE(replicas.holds(datum(0), host));
    EXPECT_TRUE(replicas.holds(datum(0), left));
}

TEST_F(OneHostTwoDevices, AnswersWhatPoliciesAsk)
{
    run({inout(0)}, left);
    const std::vector<TaskDatum> task{in(0), inout(1), out(2)};
    EXPECT_EQ(replicas.valid_bytes(task, left), 100);
    EXPECT_EQ(replicas.valid_bytes(task, host), 100) << "datum 1; what is only written is not needed";
    EXPECT_EQ(replicas.transfer_time(task, left), 100) << "without a cost function a byte costs one second";
    EXPECT_EQ(replicas.transfer_time(task, right), 200);
    EXPECT_FALSE(replicas.holds_written(task, left));
    run({inout(1)}, left);
    EXPECT_TRUE(replicas.holds_written(task, left));
    EXPECT_EQ(replicas.working_set(task, left), 300);
    EXPECT_EQ(replicas.working_set(task, host), 0);
}

TEST_F(OneHostTwoDevices, AnswersForDataThatNobodyHasUsedYet)
{
    EXPECT_EQ(replicas.transfer_time(std::vector{in(7)}, left), 100);
    EXPECT_EQ(replicas.transfer_time(std::vector{in(7)}, host), 0);
    EXPECT_EQ(replicas.working_set(std::vector{in(7)}, left), 100);
    EXPECT_TRUE(replicas.holds(datum(7), host));
    EXPECT_FALSE(replicas.holds(datum(7), left));
    EXPECT_EQ(replicas.home(datum(7)), -1);
}

TEST_F(OneHostTwoDevices, ForgottenDataGiveTheirBlocksBack)
{
    run({inout(0)}, left);
    replicas.forget(datum(0));
    EXPECT_EQ(replicas.used(left), 0);
    EXPECT_EQ(replicas.home_bytes(host), 0);
    const Plan plan = run({in(0, 250)}, left);
    EXPECT_EQ(plan.transfers.at(0).from, host) << "the address is a new datum at home, of any size";
}

template <class Call> std::string complaint(Call&& call)
{
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        return error.what();
    }
    return "no complaint";
}

TEST_F(OneHostTwoDevices, ComplainsOfWhatCannotBe)
{
    EXPECT_THAT(complaint([&] { acquire({in(0)}, 3); }), HasSubstr("space 3 is not there; spaces are 0 to 2"));
    EXPECT_THAT(complaint([&] { replicas.complete(77); }), HasSubstr("transfer 77 is not under way"));
    const Plan plan = acquire({in(0)}, left);
    EXPECT_THAT(complaint([&] { replicas.forget(datum(0)); }), HasSubstr("cannot be forgotten"));
    EXPECT_THAT(complaint([&] { replicas.place(datum(0), 100, right); }), HasSubstr("cannot be placed"));
    complete(plan);
    release({in(0)}, left);
    EXPECT_THAT(complaint([&] { acquire({in(0, 200)}, left); }), HasSubstr("had 100 bytes and is now used with 200"));
    EXPECT_THAT(complaint([] { Replicas none({}); }), HasSubstr("at least one"));
}

TEST_F(OneHostTwoDevices, AWriteMayBeLargerThanWhatWasThere)
{
    run({out(0)}, left);
    run({in(0)}, right);
    EXPECT_EQ(replicas.used(left), 100);
    const Plan grown = run({out(0, 200)}, left);
    EXPECT_THAT(grown.transfers, IsEmpty()) << "what was there is not needed";
    EXPECT_EQ(run({in(0, 200)}, right).transfers.at(0).bytes, 200);
    EXPECT_EQ(replicas.home_bytes(host), 200);
}

TEST(Replicas, TheNearestCopyIsTheSource)
{
    MemoryEnvironment environment;
    environment.cost = [](SpaceId from, SpaceId to, Bytes bytes) { return bytes * (from == 0 || to == 0 ? 5.0 : 1.0); };
    Replicas replicas({{"host"}, {"a", 300}, {"b", 300}}, environment);
    const std::vector<TaskDatum> task{in(0)};
    for (const SpaceId space : {1, 2}) {
        const Plan plan = replicas.acquire(task, space);
        ASSERT_THAT(plan.transfers, SizeIs(1));
        EXPECT_EQ(plan.transfers[0].from, space - 1);
        replicas.complete(plan.transfers[0].id);
        replicas.release(task, space);
    }
    EXPECT_EQ(replicas.statistics().between[1 * 3 + 2].bytes, 100);
}

TEST(Replicas, WithoutADirectWayACopyGoesThroughItsHome)
{
    MemoryEnvironment environment;
    environment.cost = [](SpaceId from, SpaceId to, Bytes bytes) {
        return from == 0 || to == 0 ? bytes : std::numeric_limits<double>::infinity();
    };
    Replicas replicas({{"host"}, {"a", 300}, {"b", 300}}, environment);
    const std::vector<TaskDatum> task{inout(0)};
    replicas.complete(replicas.acquire(task, 1).transfers.at(0).id);
    replicas.release(task, 1);
    const Plan plan = replicas.acquire(task, 2);
    ASSERT_THAT(plan.transfers, SizeIs(2));
    EXPECT_EQ(plan.transfers[0].to, 0);
    EXPECT_EQ(plan.transfers[1].from, 0);
    EXPECT_THAT(plan.transfers[1].after, ElementsAre(plan.transfers[0].id));
}

TEST(Replicas, MemoryNodesOfOneHostUseEachOthersDataInPlace)
{
    MemoryEnvironment environment;
    environment.home = [](const void* data, Bytes, SpaceId) { return data == datum(0) ? 0 : 1; };
    Replicas replicas({{"node 0", 0, 0}, {"node 1", 0, 0}, {"gpu", 300, -1}}, environment);
    const std::vector<TaskDatum> task{in(0), inout(1)};
    const Plan plan = replicas.acquire(task, 0);
    EXPECT_THAT(plan.transfers, IsEmpty());
    ASSERT_THAT(plan.remote, SizeIs(1));
    EXPECT_EQ(plan.remote[0].data, datum(1));
    EXPECT_EQ(plan.remote[0].at, 1);
    EXPECT_EQ(plan.remote[0].from, 0);
    EXPECT_TRUE(plan.remote[0].writes);
    replicas.release(task, 0);
    EXPECT_EQ(replicas.statistics().local.bytes, 100);
    EXPECT_EQ(replicas.statistics().remote.bytes, 100);
    EXPECT_FALSE(replicas.holds(datum(1), 0));
    EXPECT_EQ(replicas.valid_bytes(task, 0), 100);

    const Plan device = replicas.acquire(task, 2);
    ASSERT_THAT(device.transfers, SizeIs(2));
    EXPECT_EQ(device.transfers[1].from, 1);
    for (const Transfer& transfer : device.transfers) replicas.complete(transfer.id);
    replicas.release(task, 2);
    const Plan back = replicas.acquire(task, 0);
    ASSERT_THAT(back.transfers, SizeIs(1));
    EXPECT_EQ(back.transfers[0].to, 1) << "it comes home, not to the node of the task";
}

TEST(SpacesOf, AreTheNodesOfEachHostAndThenTheDevices)
{
    Machine machine;
    machine.nodes = {{"node0", 1e9}, {"node1", 1e9}, {"other", 1e9, 1}};
    machine.devices = {{"gpu0", "gpu", 0, 3e9}};
    const auto spaces = spaces_of(machine);
    ASSERT_THAT(spaces, SizeIs(4));
    EXPECT_EQ(spaces[0].domain, spaces[1].domain);
    EXPECT_NE(spaces[0].domain, spaces[2].domain);
    EXPECT_EQ(spaces[1].capacity, 0) << "copies of other hosts' data are not limited";
    EXPECT_EQ(spaces[3].name, "gpu0");
    EXPECT_EQ(spaces[3].capacity, 3e9);
    EXPECT_LT(spaces[3].domain, 0);
}

// ---- shapes --------------------------------------------------------------------------------------------------------------

TaskDatum tile(int number, AccessMode mode, DatumShape shape = {100, 5, 4, 8})
{
    return {datum(number), double(shape.rows) * shape.cols * shape.element, mode, any_node, shape};
}

/// A plan is enough for a copy in two dimensions: columns lie as the tasks say at home, and without gaps in a block.
TEST_F(OneHostTwoDevices, TransfersSayHowTheDatumLiesAtBothEnds)
{
    const Plan there = run({tile(0, AccessMode::readwrite)}, left);
    ASSERT_THAT(there.transfers, SizeIs(1));
    EXPECT_EQ(there.transfers[0].shape, (DatumShape{100, 5, 4, 8}));
    EXPECT_EQ(there.transfers[0].from_ld(), 100);
    EXPECT_EQ(there.transfers[0].to_ld(), 5);
    const std::vector<TaskDatum> away = replicas.away();
    ASSERT_THAT(away, SizeIs(1));
    EXPECT_EQ(away[0].shape, (DatumShape{100, 5, 4, 8})) << "so that they can be brought home";
    const Plan back = run(away, host);
    ASSERT_THAT(back.transfers, SizeIs(1));
    EXPECT_EQ(back.transfers[0].from_ld(), 5);
    EXPECT_EQ(back.transfers[0].to_ld(), 100);
    const Plan opaque = run({in(1)}, left);
    EXPECT_EQ(opaque.transfers[0].shape, DatumShape{}) << "copied whole";
}

TEST_F(OneHostTwoDevices, APartFromTheFirstElementOnIsTheDatumItself)
{
    run({tile(0, AccessMode::readwrite)}, left);
    const Plan part = run({tile(0, AccessMode::read, {100, 3, 4, 8})}, left);
    EXPECT_THAT(part.transfers, IsEmpty());
    EXPECT_EQ(replicas.shape(datum(0)), (DatumShape{100, 5, 4, 8})) << "of the largest";
}

TEST_F(OneHostTwoDevices, ColumnsThatLieOtherwiseAreRefused)
{
    run({tile(0, AccessMode::readwrite)}, left);
    try {
        acquire({tile(0, AccessMode::read, {50, 5, 4, 8})}, right);
        FAIL() << "a copy would have taken other columns";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("5 x 4 elements of 8 bytes, columns 100 apart"));
        EXPECT_THAT(error.what(), HasSubstr("50 apart; declare one shape for one address"));
    }
    EXPECT_EQ(acquire({tile(0, AccessMode::read)}, right).verdict, Verdict::now) << "nothing has changed";
}

} // namespace
} // namespace trencadis
