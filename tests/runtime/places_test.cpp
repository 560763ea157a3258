#include "engine_fixture.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

/// Two workers, the second on another memory node or not, both kept busy while eight tasks come from outside; then one of them is
/// let go and runs them. In which order?
std::vector<int> order_of_eight(const char* scheduler, int second_node)
{
    std::vector<WorkerPlace> places(2);
    places[1].node = second_node;
    RuntimeUnderTest runtime("native", scheduler, places, Relieving::never);
    std::vector<int> order;
    std::atomic<int> begun{0}, ended{0};
    std::atomic<bool> one_may_go{false}, all_may_go{false};
    TaskFlow gates(runtime.engine()), flow(runtime.engine());
    for (int gate = 0; gate < 2; ++gate)
        gates.submit("gate",
                     [&] {
                         const int number = begun.fetch_add(1);
                         while (!(number == 0 ? one_may_go : all_may_go).load()) std::this_thread::yield();
                     },
                     {});
    while (begun.load() < 2) std::this_thread::yield();
    for (int i = 0; i < 8; ++i)
        flow.submit("counted",
                    [&, i] {
                        order.push_back(i); // one worker at a time
                        ++ended;
                    },
                    {});
    one_may_go.store(true);
    while (ended.load() < 8) std::this_thread::yield();
    all_may_go.store(true);
    flow.wait();
    gates.wait();
    return order;
}

TEST(Places, NumaWsHasADequeForEachNodeThatWorkersAreOn)
{
    EXPECT_EQ(order_of_eight("numa-ws", 0), (std::vector{7, 6, 5, 4, 3, 2, 1, 0}));
    // Dealt to the nodes in turn: a node's own, the newest first, then the other's, the oldest first.
    const std::vector<int> order = order_of_eight("numa-ws", 1);
    const int odd = order.front() % 2;
    EXPECT_EQ(order, odd ? (std::vector{7, 5, 3, 1, 0, 2, 4, 6}) : (std::vector{6, 4, 2, 0, 1, 3, 5, 7}));
}

TEST(Places, PoliciesThatAskWhereDataAreAreRefusedWhereNothingIsKnownOfMemories)
{
    for (const int second_node : {0, 1}) {
        std::vector<WorkerPlace> places(2);
        places[1].node = second_node;
        for (const char* scheduler : {"h1", "h2"})
            EXPECT_THROW(RuntimeUnderTest("native", scheduler, places, Relieving::never), Error) << scheduler;
    }
}

} // namespace
} // namespace trencadis::testing
