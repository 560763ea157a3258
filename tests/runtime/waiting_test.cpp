#include "engine_fixture.hpp"
#include "graph/waiting.hpp"
#include "observe/trace.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

class Waiting : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, Waiting, ::testing::ValuesIn(representative_schedulers));

TEST_P(Waiting, ATaskThatWaitsForAnEventLeavesItsOnlyCoreToTheTaskThatSetsIt)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    TaskFlow flow(runtime.engine());
    TaskEvent event;
    std::vector<int> order;
    flow.submit("waits",
                [&] {
                    order.push_back(1);
                    event.wait();
                    order.push_back(3);
                },
                {});
    flow.submit("sets",
                [&] {
                    order.push_back(2);
                    event.set();
                },
                {});
    flow.wait();
    EXPECT_TRUE(event.is_set());
    if (order.front() == 1) EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    else EXPECT_EQ(order, (std::vector<int>{2, 1, 3})) << "the policy ran the later task first";
}

TEST_P(Waiting, ManyTasksWaitForOneEventThatAThreadOutsideSets)
{
    RuntimeUnderTest runtime("native", GetParam(), 2);
    TaskFlow flow(runtime.engine());
    TaskEvent event;
    std::atomic<int> begun{0}, ended{0};
    for (int i = 0; i < 100; ++i)
        flow.submit("waits",
                    [&] {
                        ++begun;
                        event.wait();
                        ++ended;
                    },
                    {});
    std::thread outside([&] {
        while (begun < 100) std::this_thread::yield(); // two cores, and all of them begin
        EXPECT_EQ(ended, 0);
        event.set();
    });
    flow.wait();
    outside.join();
    EXPECT_EQ(ended, 100);
}

TEST_P(Waiting, ALockIsHeldWhileItsHolderWaits)
{
    for (const int workers : {1, 2, 4}) {
        RuntimeUnderTest runtime("native", GetParam(), workers);
        TaskFlow flow(runtime.engine());
        TaskMutex mutex;
        int inside = 0, sum = 0;
        for (int i = 0; i < share_of(300); ++i)
            flow.submit("locks",
                        [&](TaskContext& context) {
                            std::lock_guard lock(mutex);
                            EXPECT_EQ(inside++, 0);
                            for (int k = 0; k < 3; ++k) context.flow().submit("inner", [&] { ++sum; }, {readwrite(&sum)});
                            context.flow().wait(); // others of the same kind are ready meanwhile, and want the lock
                            --inside;
                        },
                        {});
        flow.wait();
        EXPECT_EQ(sum, 3 * share_of(300));
        EXPECT_TRUE(mutex.try_lock());
        mutex.unlock();
    }
}

TEST_P(Waiting, ThreadsOutsideAndTasksShareALock)
{
    RuntimeUnderTest runtime("native", GetParam(), 3);
    TaskMutex mutex;
    long count = 0;
    const int rounds = share_of(3000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                std::lock_guard lock(mutex);
                ++count;
            }
        });
    {
        TaskFlow flow(runtime.engine());
        for (int i = 0; i < rounds; ++i)
            flow.submit("locks",
                        [&] {
                            std::lock_guard lock(mutex);
                            ++count;
                        },
                        {});
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, 3L * rounds);
}

TEST_P(Waiting, AnExceptionInFlightSurvivesTheWait)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    TaskFlow flow(runtime.engine());
    TaskEvent turn[2];
    std::string seen;
    for (int i = 0; i < 2; ++i)
        flow.submit("throws",
                    [&, i] {
                        try {
                            throw std::runtime_error(i ? "two" : "one");
                        } catch (const std::exception&) {
                            turn[i].set();
                            turn[1 - i].wait(); // the other one throws and catches meanwhile, on the same thread
                            try {
                                throw;
                            } catch (const std::exception& error) {
                                seen += error.what();
                            }
                        }
                    },
                    {});
    flow.wait();
    EXPECT_TRUE(seen == "onetwo" || seen == "twoone") << seen;
}

TEST_P(Waiting, TasksOfTheSequentialEngineInsideTasksMayWaitToo)
{
    RuntimeUnderTest runtime("native", GetParam(), 1), inner("sequential", "eager", 1);
    inner.engine().recorder().start();
    {
        TaskFlow flow(runtime.engine());
        TaskEvent turn[2];
        for (int i = 0; i < 2; ++i)
            flow.submit("outer",
                        [&, i] {
                            TaskFlow sequential(inner.engine());
                            sequential.submit("inner",
                                              [&] {
                                                  turn[i].set();
                                                  turn[1 - i].wait();
                                              },
                                              {});
                            sequential.submit("last", [] {}, {});
                        },
                        {});
    }
    const Trace trace = inner.engine().recorder().stop();
    ASSERT_EQ(trace.workers.size(), 1U);
    int begun = 0;
    for (const Event& event : trace.workers[0].events) begun += !event.continued;
    EXPECT_EQ(begun, 4);
}

TEST(WaitingOutside, AThreadSleepsUntilTheEventIsSetAndAResetHoldsTheNextOnes)
{
    TaskEvent event;
    std::atomic<bool> passed{false};
    std::thread thread([&] {
        event.wait();
        passed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(passed);
    event.set();
    thread.join();
    event.wait(); // it stays set
    event.reset();
    EXPECT_FALSE(event.is_set());
}

} // namespace
} // namespace trencadis::testing
