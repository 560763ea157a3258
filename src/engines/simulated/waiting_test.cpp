// Workers that wait: who has fallen asleep needs its time to begin.
#include "engines/simulated/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;

constexpr double ns = 1e-8; ///< the simulator rounds times

TEST(SimulatedWaiting, WakesAfterItsTimeWhoHasFallenAsleep)
{
    TRC_NEEDS_SIMGRID;
    const auto one_then_two = [](Flow& flow) {
        static char data[3];
        flow.submit(work, Cost{1e9}, {readwrite(data)});
        for (int i = 1; i <= 2; ++i) flow.submit(work, Cost{1e9}, {read(data), readwrite(data + i)});
    };
    SimulatedRun run{cores_of_speed({1, 1})};
    run.options.wake_s = 0.5;
    EXPECT_NEAR(makespan(run, one_then_two), 2.5, ns);
    run.options.spin_s = 2; // it still looks for work
    EXPECT_NEAR(makespan(run, one_then_two), 2, ns);
}

TEST(SimulatedWaiting, LetsASleeperJoinOnceItIsAwake)
{
    TRC_NEEDS_SIMGRID;
    const auto graph = [](double amount, Index chunks) {
        return [=](Flow& flow) {
            static char x;
            flow.submit(work, Cost{1e9}, {readwrite(&x)});
            flow.submit(shared_work, SharedCost{amount, chunks}, {readwrite(&x)});
        };
    };
    SimulatedRun run{cores_of_speed({1, 1})};
    run.options.wake_s = 0.5;
    // The owner takes chunks at 1, 2, 3 and 4, the other at 1.5, 2.5, 3.5 and 4.5.
    EXPECT_NEAR(makespan(run, graph(8e9, 8)), 5.5, ns);
    // It would come too late, and leaves both chunks to the owner; then it needs its time to see that all has been done.
    EXPECT_NEAR(makespan(run, graph(0.4e9, 2)), 1 + 0.4 + 0.5, ns);
    run.options.spin_s = 2; // it still looks for work
    EXPECT_NEAR(makespan(run, graph(8e9, 8)), 5, ns);
}

} // namespace
} // namespace trencadis
