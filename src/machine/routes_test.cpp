#include "machine/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two nodes, two devices on one switch of the first, and a device that nothing leads to.
Machine tree()
{
    Machine machine;
    machine.nodes = {{"node0", 0}, {"node1", 0}};
    machine.devices = {{"gpu0", "gpu", 0, 0}, {"gpu1", "gpu", 0, 0}, {"lost", "gpu", 0, 0}};
    machine.junctions = {{"switch"}};
    machine.links = {{"node0", "node1", 12e9, 1e-7},
                     {"switch", "node0", 6e9, 5e-6},
                     {"switch", "gpu0", 8e9, 1e-6},
                     {"gpu1", "switch", 8e9, 1e-6}};
    return machine;
}

TEST(Routes, AddLatenciesAndTakeTheNarrowestLink)
{
    const Machine machine = tree();
    const Routes routes(machine);
    const auto& route = routes.between(find_place(machine, "node1"), place_of_device(machine, 0));
    EXPECT_THAT(route.links, ElementsAre(0, 1, 2));
    EXPECT_DOUBLE_EQ(route.latency, 6.1e-6);
    EXPECT_EQ(route.bandwidth, 6e9);
    EXPECT_DOUBLE_EQ(route.time(6e9), 1 + 6.1e-6);
}

TEST(Routes, LeadBackOverTheSameLinks)
{
    const Machine machine = tree();
    const Routes routes(machine);
    EXPECT_THAT(routes.between(place_of_device(machine, 0), find_place(machine, "node1")).links, ElementsAre(2, 1, 0));
    EXPECT_THAT(routes.between(place_of_device(machine, 0), place_of_device(machine, 1)).links, ElementsAre(2, 3))
        << "over the switch, not over the host";
}

TEST(Routes, TakeTheQuickerWay)
{
    Machine machine = tree();
    machine.links.push_back({"node1", "switch", 5e9, 1e-6});
    machine.links.push_back({"node1", "gpu0", 1e8, 0});
    const Routes routes(machine);
    EXPECT_THAT(routes.between(1, place_of_device(machine, 0)).links, ElementsAre(4, 2))
        << "neither the narrow link nor the long way";
}

TEST(Routes, TakeTheBandwidthOfTheirDirectionAndOfTheMemoryAtTheirEnds)
{
    Machine machine = tree();
    machine.links[1].back = 3e9; // from node0 to switch
    machine.nodes[1].bandwidth = 2e9;
    const Routes routes(machine);
    EXPECT_EQ(routes.between(place_of_device(machine, 0), 0).bandwidth, 6e9);
    EXPECT_EQ(routes.between(0, place_of_device(machine, 0)).bandwidth, 3e9);
    EXPECT_EQ(routes.between(place_of_device(machine, 0), 1).bandwidth, 2e9);
    EXPECT_TRUE(routes.between(1, place_of_device(machine, 0)).over_memory) << "over node0";
    EXPECT_FALSE(routes.between(0, place_of_device(machine, 0)).over_memory);
}

TEST(Routes, KnowWhereNoWayLeads)
{
    const Machine machine = tree();
    const Routes routes(machine);
    EXPECT_FALSE(routes.between(0, place_of_device(machine, 2)).reachable);
    EXPECT_TRUE(std::isinf(routes.between(0, place_of_device(machine, 2)).time(1)));
    EXPECT_TRUE(routes.between(0, 0).reachable);
    EXPECT_THAT(routes.between(0, 0).links, IsEmpty());
    EXPECT_EQ(routes.between(0, 0).time(1e9), 0);
    EXPECT_EQ(find_place(machine, "nowhere"), -1);
}

} // namespace
} // namespace trencadis
