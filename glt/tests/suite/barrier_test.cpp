// Barriers: for a number of units, again and again.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(BarrierTest);

struct Barrier {
    GLT_barrier handle = GLT_NULL;
    explicit Barrier(int waiters) { glt_barrier_create(waiters, &handle); }
    ~Barrier() { glt_barrier_free(&handle); }
    void wait() { glt_barrier_wait(&handle); }
};

/// Nobody leaves round r before all have come to it: each adds one and then sees at least all of this round's.
void meet(Barrier& barrier, std::atomic<long>& arrived, std::atomic<int>& early, int units, int round)
{
    arrived++;
    barrier.wait();
    const long seen = arrived;
    early += seen < static_cast<long>(units) * (round + 1) || seen > static_cast<long>(units) * (round + 2);
}

TEST_P(BarrierTest, IsUsedAThousandTimes)
{
    const int units = threads() + 1, rounds = unit_is_os_thread() || sanitized ? 200 : 1000;
    Barrier barrier(units);
    std::atomic<long> arrived = 0;
    std::atomic<int> early = 0;
    run_units(units, [&](int) {
        for (int round = 0; round < rounds; ++round) meet(barrier, arrived, early, units, round);
    });
    EXPECT_EQ(early, 0);
    EXPECT_EQ(arrived, static_cast<long>(units) * rounds);
}

TEST_P(BarrierTest, HoldsManyMoreUnitsThanThreads)
{
    const int units = 64, rounds = unit_is_os_thread() ? 10 : 30;
    Barrier barrier(units);
    std::atomic<long> arrived = 0;
    std::atomic<int> early = 0;
    run_units(units, [&](int i) {
        for (int round = 0; round < rounds; ++round) {
            if ((i + round) % 7 == 0) glt_yield();
            meet(barrier, arrived, early, units, round);
        }
    });
    EXPECT_EQ(early, 0);
}

TEST_P(BarrierTest, TheMainProgramTakesPart)
{
    const int units = 5;
    Barrier barrier(units + 1);
    std::atomic<long> arrived = 0;
    std::atomic<int> early = 0;
    Units others(units, [&](int) {
        for (int round = 0; round < 50; ++round) meet(barrier, arrived, early, units + 1, round);
    });
    for (int round = 0; round < 50; ++round) meet(barrier, arrived, early, units + 1, round);
    others.wait();
    EXPECT_EQ(early, 0);
}

TEST_P(BarrierTest, OfOneHoldsNobodyAndOfTwoTheFirst)
{
    Barrier one(1), two(2);
    std::atomic<int> before = 0, after = 0;
    Units unit(1, [&](int) {
        for (int i = 0; i < 10; ++i) one.wait();
        before = 1;
        two.wait();
        after = 1;
    });
    yield_until([&] { return before == 1; });
    for (int i = 0; i < 50; ++i) glt_yield();
    spin_for(0.001);
    EXPECT_EQ(after, 0) << "the second has not come yet";
    for (int i = 0; i < 10; ++i) one.wait(); // the main program neither
    two.wait();
    unit.wait();
    EXPECT_EQ(after, 1);
}

TEST_P(BarrierTest, AWaiterLeavesItsCoreToOthers)
{
    Barrier barrier(2 * threads() + 1);
    Units waiters(2 * threads(), [&](int) { barrier.wait(); });
    std::atomic<int> ran = 0;
    run_units(20, [&](int) { ran++; });
    EXPECT_EQ(ran, 20);
    barrier.wait();
    waiters.wait();
}

TEST_P(BarrierTest, ForeignThreadsTakePart)
{
    Barrier alone(1);
    Foreign([&] { can_or_refuses(GLT_CAN_FOREIGN_WAIT, [&] { alone.wait(); }); });
    if (glt_can(GLT_CAN_FOREIGN_WAIT) == GLT_CANNOT || glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) return;
    const int parties = 5, rounds = 20;
    Barrier barrier(parties);
    std::atomic<long> arrived = 0;
    std::atomic<int> early = 0;
    const auto work = [&] {
        for (int round = 0; round < rounds; ++round) meet(barrier, arrived, early, parties, round);
    };
    {
        Foreign one(work), two(work);
        run_units(3, [&](int) { work(); });
    }
    EXPECT_EQ(early, 0);
}

} // namespace
} // namespace trencadis::suite
