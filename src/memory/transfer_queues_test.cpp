#include "memory/transfer_queues.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace trencadis {
namespace {

constexpr SpaceId host = 0, left = 1, right = 2;

const void* datum(int number) { return reinterpret_cast<const void*>(std::uintptr_t(0x1000 + 0x1000 * number)); }
TaskDatum in(int number) { return {datum(number), 100, AccessMode::read}; }
TaskDatum inout(int number) { return {datum(number), 100, AccessMode::readwrite}; }

/// A host and two devices that reach each other over the host only.
class Queues : public ::testing::Test {
protected:
    static MemoryEnvironment over_the_host()
    {
        MemoryEnvironment environment;
        environment.cost = [](SpaceId from, SpaceId to, Bytes) {
            return from != host && to != host ? std::numeric_limits<Seconds>::infinity() : Seconds(1);
        };
        return environment;
    }
    std::vector<Transfer> plan(TaskDatum what, SpaceId space)
    {
        const std::vector<TaskDatum> data{what};
        std::vector<Transfer> transfers = replicas.acquire(data, space).transfers;
        replicas.release(data, space);
        return transfers;
    }
    void carry_out(TransferQueues& queues, const Transfer& transfer)
    {
        queues.end(transfer);
        replicas.complete(transfer.id);
    }
    Replicas replicas{{{"host"}, {"left", 1000}, {"right", 1000}}, over_the_host()};
};

TEST_F(Queues, AreOneIntoADeviceAndOneOutOfIt)
{
    TransferQueues queues(replicas, left, false);
    const Transfer there = plan(inout(0), left).at(0);
    const auto into = queues.add(there);
    ASSERT_TRUE(queues.begin(into));
    carry_out(queues, there);
    const Transfer back = plan(in(0), host).at(0);
    EXPECT_EQ(back.from, left);
    const auto out = queues.add(back);
    EXPECT_NE(into, out);
    EXPECT_LT(out, queues.count());
    EXPECT_NE(queues.add(plan(in(1), right).at(0)), into);
    EXPECT_EQ(queues.add(plan(in(2), left).at(0)), into);
}

TEST_F(Queues, KeepATransferUntilWhatItComesAfterIsComplete)
{
    TransferQueues queues(replicas, left, false);
    const Transfer there = plan(inout(0), left).at(0);
    queues.add(there);
    carry_out(queues, there);
    const std::vector<Transfer> hops = plan(in(0), right); // left to host, host to right
    ASSERT_EQ(hops.size(), 2U);
    const auto first = queues.add(hops[0]), second = queues.add(hops[1]);
    EXPECT_FALSE(queues.begin(second));
    EXPECT_FALSE(queues.complete({hops[0].id}));
    ASSERT_TRUE(queues.begin(first));
    EXPECT_FALSE(queues.begin(second));
    carry_out(queues, hops[0]);
    EXPECT_TRUE(queues.complete({hops[0].id}));
    const auto next = queues.begin(second);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->id, hops[1].id);
    EXPECT_FALSE(queues.begin(second)) << "it was taken";
}

TEST_F(Queues, BeginEarlyOnlyWhatWillBeNext)
{
    TransferQueues queues(replicas, left, false);
    carry_out(queues, plan(inout(0), left).at(0));
    const std::vector<Transfer> hops = plan(in(0), right); // left to host, host to right
    ASSERT_EQ(hops.size(), 2U);
    const auto first = queues.add(hops[0]), second = queues.add(hops[1]);
    EXPECT_EQ(queues.add(plan(in(1), right).at(0)), second);
    EXPECT_FALSE(queues.begin_early(second)) << "the one before it may be able to go by the time that it is asked for";
    ASSERT_TRUE(queues.begin_early(first));
    carry_out(queues, hops[0]);
    const auto next = queues.begin_early(second);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->id, hops[1].id);
    EXPECT_EQ(queues.begin_early(second)->data, datum(1));
    EXPECT_FALSE(queues.begin_early(second)) << "there is none";
}

TEST_F(Queues, OfADeviceThatDoesOneThingAtATimeWaitForEachOther)
{
    TransferQueues both(replicas, left, false), one(replicas, left, true);
    const Transfer transfer = plan(in(0), left).at(0);
    for (TransferQueues* queues : {&both, &one}) {
        queues->engage(left, true); // it computes
        queues->engage(host, true); // which hosts may
        const auto into = queues->add(transfer);
        EXPECT_EQ(queues->begin(into).has_value(), queues == &both);
    }
    one.engage(left, false);
    ASSERT_TRUE(one.begin(left));
    EXPECT_TRUE(one.engaged(left)) << "it receives";
    EXPECT_FALSE(one.engaged(host));
    one.end(transfer);
    EXPECT_FALSE(one.engaged(left));
}

} // namespace
} // namespace trencadis
