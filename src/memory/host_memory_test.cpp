#include "memory/host_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace trencadis {
namespace {

/// A task with some data, as one that was submitted.
class Using {
public:
    Using(std::initializer_list<TaskDatum> data)
    {
        task.data = task.named;
        task.accesses = task.nodes;
        for (const TaskDatum& datum : data) {
            task.nodes[task.access_count].task = &task;
            task.nodes[task.access_count].group = reinterpret_cast<AccessGroup*>(&task);
            task.nodes[task.access_count].mode = datum.mode;
            task.named[task.access_count++] = Datum(datum.data, datum.bytes);
        }
    }
    Task task{};
};

Machine two_nodes(double bandwidth)
{
    Machine machine;
    machine.nodes = {{"left", 1e9}, {"right", 1e9}};
    if (bandwidth > 0) machine.links = {{"left", "right", bandwidth, 0}};
    return machine;
}

const std::array<double, 6> memory{};
int node_of(const void* data)
{
    const auto number = static_cast<const double*>(data) - memory.data();
    return number < 4 ? static_cast<int>(number % 2) : any_node;
}

TEST(HostMemory, TellsWhereTheDataOfATaskLie)
{
    const Machine machine = two_nodes(100);
    const HostMemory host(&machine, node_of);
    Using uses{
        {&memory[0], 300, AccessMode::read}, {&memory[1], 200, AccessMode::readwrite}, {&memory[3], 50, AccessMode::write}};
    host.locate(uses.task);
    EXPECT_EQ(host.memories(), 2);
    EXPECT_EQ(host.valid_bytes(uses.task, 0), 300);
    EXPECT_EQ(host.valid_bytes(uses.task, 1), 200) << "what is only written need not be valid";
    EXPECT_FALSE(host.holds_written(uses.task, 0));
    EXPECT_TRUE(host.holds_written(uses.task, 1));
    EXPECT_DOUBLE_EQ(host.transfer_time(uses.task, 0), 2.5);
    EXPECT_DOUBLE_EQ(host.transfer_time(uses.task, 1), 3);
}

TEST(HostMemory, CountsNoDataThatNobodyHasTouched)
{
    const Machine machine = two_nodes(100);
    const HostMemory host(&machine, node_of);
    Using uses{{&memory[4], 300, AccessMode::read}, {&memory[5], 200, AccessMode::readwrite}};
    host.locate(uses.task);
    for (const int node : {0, 1}) {
        EXPECT_EQ(host.valid_bytes(uses.task, node), 0);
        EXPECT_FALSE(host.holds_written(uses.task, node));
        EXPECT_EQ(host.transfer_time(uses.task, node), 0);
    }
}

TEST(HostMemory, SaysThatTransfersAreNotKnownOnAMachineWithoutLinks)
{
    const Machine machine = two_nodes(0);
    const HostMemory host(&machine, node_of);
    Using uses{{&memory[0], 300, AccessMode::read}};
    host.locate(uses.task);
    EXPECT_FALSE(host.knows_transfers());
    EXPECT_EQ(host.transfer_time(uses.task, 1), 0);
    EXPECT_EQ(host.valid_bytes(uses.task, 0), 300);
    EXPECT_EQ(host.valid_bytes(uses.task, 1), 0);
}

TEST(HostMemory, HoldsAllWhereThereIsOne)
{
    const HostMemory host(nullptr, {});
    const Using uses{{&memory[0], 300, AccessMode::read}, {&memory[5], 200, AccessMode::readwrite}};
    EXPECT_EQ(host.memories(), 1);
    EXPECT_EQ(host.valid_bytes(uses.task, 0), 500);
    EXPECT_TRUE(host.holds_written(uses.task, 0));
    EXPECT_EQ(host.transfer_time(uses.task, 0), 0);
}

TEST(HostMemory, BelievesADatumThatNamesItsNode)
{
    const Machine machine = two_nodes(100);
    const HostMemory host(&machine, node_of);
    Using uses{{&memory[0], 300, AccessMode::read}};
    uses.task.data[0].home = 1;
    host.locate(uses.task);
    EXPECT_EQ(host.valid_bytes(uses.task, 1), 300);
}

/// That is why nobody tells it what tasks do: the object that a simulation tells everything answers the same.
TEST(HostMemory, AnswersAsReplicasThatAreToldOfEveryTask)
{
    const Machine machine = two_nodes(100);
    const HostMemory host(&machine, node_of);
    const Routes routes(machine);
    Replicas told({{"left", 0, 0}, {"right", 0, 0}},
                  {[&](SpaceId from, SpaceId to, Bytes bytes) { return routes.between(from, to).time(bytes); },
                   [](const void* data, Bytes, SpaceId) { return node_of(data); }});
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const auto mode = [&] { return std::array{AccessMode::read, AccessMode::write, AccessMode::readwrite}[random() % 3]; };
        const std::size_t first = random() % 3;
        const auto use = [&](std::size_t datum) { return TaskDatum{&memory[datum], 100.0 * double(datum + 1), mode()}; };
        Using uses{use(first), use(first + 1)};
        host.locate(uses.task);
        std::vector<TaskDatum> data;
        data_of(uses.task, data);
        for (TaskDatum& datum : data) datum.home = any_node; // `told` finds it out
        for (const int node : {0, 1}) {
            EXPECT_EQ(host.valid_bytes(uses.task, node), told.valid_bytes(data, node));
            EXPECT_EQ(host.holds_written(uses.task, node), told.holds_written(data, node));
            EXPECT_EQ(host.transfer_time(uses.task, node), told.transfer_time(data, node));
        }
        const int node = static_cast<int>(random() % 2);
        ASSERT_EQ(told.acquire(data, node).verdict, Verdict::now);
        told.release(data, node);
    }
}

} // namespace
} // namespace trencadis
