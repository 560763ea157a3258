#include "random_graph.hpp"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

/// Runs random graphs on the engine and compares; the caller's seed.
void run_graphs(TaskFlowEngine& engine, int count, std::uint64_t seed)
{
    Random random(seed);
    for (int g = 0; g < count; ++g) {
        const GraphPlan plan = GraphPlan::random(random);
        Outcome expected(plan), seen(plan);
        run_in_order(plan, expected);
        run_in_flow(plan, seen, engine, {.window = 1 + random.below(64)});
        ASSERT_EQ(seen.exception, "");
        ASSERT_EQ(difference(plan, expected, seen), "") << "graph " << g << " of seed " << seed;
    }
}

int threads_of_this_process()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "Threads:") {
            int threads = 0;
            status >> threads;
            return threads;
        }
    return -1;
}

class Concurrency : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, Concurrency, ::testing::ValuesIn(representative_schedulers));

TEST_P(Concurrency, SeveralThreadsUseOneEngineAtOnceEachWithFlowsOfItsOwn)
{
    std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
    RuntimeUnderTest runtime("native", GetParam(), 3);
    std::vector<std::thread> users;
    for (int u = 0; u < 4; ++u)
        users.emplace_back([&, u] { run_graphs(runtime.engine(), share_of(200), mix(test_seed(), std::uint64_t(u))); });
    for (std::thread& user : users) user.join();
}

TEST_P(Concurrency, TwoEnginesLiveInOneProcess)
{
    RuntimeUnderTest one("native", GetParam(), 2), two("native", GetParam(), 3);
    std::thread user([&] { run_graphs(one.engine(), share_of(200), mix(test_seed(), 11)); });
    run_graphs(two.engine(), share_of(200), mix(test_seed(), 12));
    user.join();
}

TEST_P(Concurrency, ATaskOfOneEngineMayWaitForAFlowOfAnother)
{
    RuntimeUnderTest outer("native", GetParam(), 2), inner("native", GetParam(), 2);
    TaskFlow flow(outer.engine());
    std::atomic<int> sum{0};
    for (int i = 0; i < 100; ++i)
        flow.submit("outer",
                    [&] {
                        TaskFlow other(inner.engine());
                        for (int k = 0; k < 10; ++k) other.submit("inner", [&] { ++sum; }, {});
                        other.wait();
                    },
                    {});
    flow.wait();
    EXPECT_EQ(sum.load(), 1000);
}

TEST_P(Concurrency, AProcessPinnedToOneCoreMakesProgress)
{
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &before)) {
            CPU_SET(cpu, &one);
            break;
        }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    {
        RuntimeUnderTest runtime("native", GetParam(), 4); // threads inherit the mask
        run_graphs(runtime.engine(), share_of(100), mix(test_seed(), 13));
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

/// A tree of tasks each of which waits for those inside it, `depth` levels deep.
void submit_tree(Flow& flow, int depth, int fanout, std::atomic<int>& leaves)
{
    for (int i = 0; i < fanout; ++i)
        flow.submit("node",
                    [=, &leaves](TaskContext& context) {
                        if (depth == 0) {
                            ++leaves;
                            return;
                        }
                        std::atomic<int> below{0};
                        submit_tree(context.flow(), depth - 1, fanout, below);
                        context.flow().wait();
                        leaves += below.load();
                    },
                    {});
}

TEST_P(Concurrency, WaitsNestDeeperThanThereAreWorkers)
{
    for (const int workers : {1, 2, 5}) {
        RuntimeUnderTest runtime("native", GetParam(), workers);
        {
            TaskFlow flow(runtime.engine());
            std::atomic<int> leaves{0};
            submit_tree(flow, 6, 3, leaves);
            flow.wait();
            EXPECT_EQ(leaves.load(), 2187);
        }
        {
            TaskFlow flow(runtime.engine(), {.window = 1});
            std::atomic<int> leaves{0};
            submit_tree(flow, 40, 1, leaves);
            flow.wait();
            EXPECT_EQ(leaves.load(), 1);
        }
        // A task that waits has a thread of its own. Branch by branch, a worker has one wait open per level, and one level
        // more for each that was begun by another worker.
        // Where tasks are placed on workers beforehand, a worker begins more branches that are not its own, and the more the
        // longer the system keeps another one from its core; all waits at once would be over a thousand.
        const int begun_by_others = GetParam() == std::string("heft") ? 20 : 2;
        EXPECT_LE(threads_of_this_process(), 1 + workers * (40 + begun_by_others * 7));
    }
}

TEST_P(Concurrency, AFlowMayBeDestroyedAsSoonAsItsWaitReturned)
{
    RuntimeUnderTest runtime("native", GetParam(), 3);
    for (int round = 0; round < share_of(20'000); ++round) {
        // Fresh memory that is overwritten at once, so that a late touch by a worker does damage.
        auto flow = std::make_unique<TaskFlow>(runtime.engine());
        int a = 0, sum = 0;
        for (int i = 0; i < 1 + round % 4; ++i) flow->submit("adds", [&] { ++sum; }, {readwrite(&a)});
        flow->wait();
        ASSERT_EQ(sum, 1 + round % 4);
        void* memory = flow.get();
        flow.reset();
        auto scribble = std::make_unique<std::byte[]>(sizeof(TaskFlow));
        std::fill_n(scribble.get(), sizeof(TaskFlow), std::byte{0xA5});
        (void)memory;
    }
}

TEST_P(Concurrency, AnEngineMayBeDestroyedAsSoonAsItsLastFlowIsGone)
{
    for (int round = 0; round < share_of(500); ++round) {
        RuntimeUnderTest runtime("native", GetParam(), 1 + round % 4);
        if (round % 3 == 0) continue; // never used
        TaskFlow flow(runtime.engine());
        std::atomic<int> ran{0};
        for (int i = 0; i < round % 50; ++i) flow.submit("counts", [&] { ++ran; }, {});
        if (round % 2) flow.wait(); // otherwise the flow's destructor does
    }
}

TEST_P(Concurrency, IdleWorkersSleep)
{
    RuntimeUnderTest runtime("native", GetParam(), 4);
    TaskFlow flow(runtime.engine());
    for (int i = 0; i < 100; ++i) flow.submit("nothing", [] {}, {});
    flow.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::clock_t before = std::clock(); // processor time of all threads
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const double used = double(std::clock() - before) / CLOCKS_PER_SEC;
    EXPECT_LT(used, 0.02) << "seconds of processor time in 0.2 s without work";
}

TEST_P(Concurrency, ATraceMayBeTakenWhileOthersRun)
{
    RuntimeUnderTest runtime("native", GetParam(), 2);
    std::atomic<bool> done{false};
    std::thread user([&] {
        for (std::uint64_t i = 0; !done.load(); ++i) run_graphs(runtime.engine(), 5, mix(test_seed(), 1000 + i));
    });
    std::size_t events = 0;
    for (int i = 0; i < 40; ++i) {
        runtime.engine().recorder().start();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const Trace trace = runtime.engine().recorder().stop();
        for (const WorkerTrace& worker : trace.workers) {
            std::int64_t last = 0;
            events += worker.events.size();
            for (const Event& event : worker.events) {
                ASSERT_GE(event.begin_ns, last) << "events overlap";
                ASSERT_LE(event.end_ns, trace.span_ns);
                last = event.end_ns;
            }
        }
    }
    done = true;
    user.join();
    EXPECT_GT(events, 0U);
}

} // namespace
} // namespace trencadis::testing
