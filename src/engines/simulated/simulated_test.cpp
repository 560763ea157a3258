// Schedules that can be worked out by hand.
#include "engines/simulated/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double ns = 1e-8; // the simulator rounds each event at 1 ns

void independent(Flow& flow, int count, double amount = 1e9)
{
    static char data[64];
    for (int i = 0; i < count; ++i) flow.submit(work, Cost{amount}, {readwrite(data + i)});
}

TEST(Simulated, WhoSubmitsLooksForATaskBeforeThoseWhoWaitWhereThatIsAsked)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({1, 0.5})};
    const auto one = [](Flow& flow) { flow.submit(work, Cost{1e9}, {}); };
    EXPECT_NEAR(makespan(run, one), 2, 1e-8) << "by the second, which waits";
    run.options.caller_first = true;
    EXPECT_NEAR(makespan(run, one), 1, 1e-8);
}

TEST(Simulated, GivesUnequalWorkersWhatTheyCanDo)
{
    TRC_NEEDS_SIMGRID;
    // The fast one does four tasks while the slow one does one.
    EXPECT_NEAR(makespan({cores_of_speed({1, 4})}, [](Flow& flow) { independent(flow, 5); }), 1, ns);
    EXPECT_NEAR(makespan({cores_of_speed({1, 4})}, [](Flow& flow) { independent(flow, 10); }), 2, ns);
}

TEST(Simulated, RunsAChainOneAfterTheOther)
{
    TRC_NEEDS_SIMGRID;
    const auto chain = [](Flow& flow) {
        char x;
        for (int i = 0; i < 5; ++i) flow.submit(work, Cost{2e9}, {readwrite(&x)});
        flow.wait();
    };
    EXPECT_NEAR(makespan({cores_of_speed({2, 2, 2})}, chain), 5, ns);
}

TEST(Simulated, ForksAndJoins)
{
    TRC_NEEDS_SIMGRID;
    const auto fork_join = [](Flow& flow) {
        static char x, y[5];
        flow.submit(work, Cost{1e9}, {write(&x)});
        for (char& part : y) flow.submit(work, Cost{1e9}, {read(&x), write(&part)});
        flow.submit(work, Cost{1e9}, {read(y), read(y + 1), read(y + 2), read(y + 3), read(y + 4)});
    };
    EXPECT_NEAR(makespan({cores_of_speed({1, 1})}, fork_join), 1 + 3 + 1, ns);
    EXPECT_NEAR(makespan({cores_of_speed({1, 1, 1, 1, 1})}, fork_join), 1 + 1 + 1, ns);
}

TEST(Simulated, RunsTasksInsideTasks)
{
    TRC_NEEDS_SIMGRID;
    static const std::function<void(Flow&)> two = [](Flow& flow) { independent(flow, 2); };
    const auto nested = [](Flow& flow) {
        static char x, y;
        flow.submit(body, Body{&two}, {readwrite(&x)});
        flow.submit(body, Body{&two}, {readwrite(&y)});
        flow.submit(work, Cost{1e9}, {read(&x), read(&y)});
    };
    EXPECT_NEAR(makespan({cores_of_speed({1, 1})}, nested), 2 + 1, ns);
    EXPECT_NEAR(makespan({cores_of_speed({1})}, nested), 4 + 1, ns);
}

/// A body that waits on a worker must not keep that worker from a task that is not its own.
TEST(Simulated, GivesTheWorkerOfAWaitingBodyToOthers)
{
    TRC_NEEDS_SIMGRID;
    static const std::function<void(Flow&)> chain = [](Flow& flow) {
        static char z;
        for (int i = 0; i < 3; ++i) flow.submit(work, Cost{1e9}, {readwrite(&z)});
    };
    const auto graph = [](Flow& flow) {
        static char x;
        flow.submit(body, Body{&chain}, {readwrite(&x)}); // a chain of 3 s that takes one worker
        independent(flow, 3);                             // 3 s for the other one
    };
    EXPECT_NEAR(makespan({cores_of_speed({1, 1})}, graph), 3, ns);
}

/// The owner of an inner flow is given a foreign task at the instant at which its own ends: nobody takes its worker over.
TEST(Simulated, EndsWhereAHolderWasMadeForNothing)
{
    TRC_NEEDS_SIMGRID;
    for (const bool body_first : {true, false})
        EXPECT_EQ(in_own_process([&] {
                      SimulatedRun run{cores_of_speed({1, 1, 1})};
                      int inner_datum = 0, shared = 0, outer = 0;
                      const std::function<void(Flow&)> inner = [&](Flow& flow) {
                          flow.submit(work, Cost{1e9}, {readwrite(&inner_datum)});
                      };
                      const SimulationReport report = run([&](Flow& flow) {
                          const auto with_inner = [&] { flow.submit(body, Body{&inner}, {readwrite(&outer)}); };
                          if (body_first) with_inner();
                          flow.submit(work, Cost{1e9}, {write(&shared)});
                          if (!body_first) with_inner();
                          for (int i = 0; i < 3; ++i) flow.submit(work, Cost{1e9}, {read(&shared)});
                      });
                      return std::string(report.makespan_s > 1 ? "ended" : "too early");
                  }),
                  "ended");
}

TEST(Simulated, KeepsNoMoreTasksInFlightThanTheWindow)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({1, 1})};
    run.flow.window = 2;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 8); }), 4, ns);
}

// ---- joined operations ----------------------------------------------------------------------------------------

void one_shared(Flow& flow, double amount, Index chunks)
{
    static char x;
    flow.submit(shared_work, SharedCost{amount, chunks}, {readwrite(&x)});
}

TEST(Simulated, SharesARunningOperationWithIdleWorkers)
{
    TRC_NEEDS_SIMGRID;
    EXPECT_NEAR(makespan({cores_of_speed({1, 1})}, [](Flow& flow) { one_shared(flow, 8e9, 8); }), 4, ns);
    EXPECT_NEAR(makespan({cores_of_speed({1, 1}), "eager:join=no"}, [](Flow& flow) { one_shared(flow, 8e9, 8); }), 8, ns);
}

TEST(Simulated, LetsEachMemberTakeChunksAtItsOwnPace)
{
    TRC_NEEDS_SIMGRID;
    // 10 chunks of 1 s and 0.25 s: at 2 s the slow one has done two and the fast one eight.
    EXPECT_NEAR(makespan({cores_of_speed({1, 4})}, [](Flow& flow) { one_shared(flow, 10e9, 10); }), 2, ns);
}

TEST(Simulated, LetsAWorkerJoinInTheMiddle)
{
    TRC_NEEDS_SIMGRID;
    // Three workers, so that somebody is idle when the operation begins and it can be joined. The second worker comes after 2.5
    // s: what is left of 12 chunks then (3 taken by the owner, 3 by the third) is shared by three.
    const auto graph = [](Flow& flow) {
        static char x, y;
        flow.submit(work, Cost{2.5e9}, {readwrite(&y)}, {nullptr, 100});
        flow.submit(shared_work, SharedCost{12e9, 12}, {readwrite(&x)});
    };
    // Handed out by 2.5 s: 6. Left: 6, taken at 2.5, 3, 3, 3.5, 4, 4: the last ends at 5.
    EXPECT_NEAR(makespan({cores_of_speed({1, 1, 1})}, graph), 5, ns);
}

TEST(Simulated, ChargesTheLossThatAPairIsKnownToHave)
{
    TRC_NEEDS_SIMGRID;
    Machine machine = cores_of_speed({1, 1});
    machine.kernels.push_back({"work", "kind0+kind0", 1.6}); // instead of 2
    EXPECT_NEAR(makespan({machine}, [](Flow& flow) { one_shared(flow, 8e9, 8); }), 5, ns);
}

TEST(Simulated, GivesFixedTeamsTheirMeasuredTime)
{
    TRC_NEEDS_SIMGRID;
    Machine machine = cores_of_speed({1, 4});
    machine.kernels.push_back({"work", "kind0+kind1", 4.5});
    SimulatedRun run{machine, "virtual-cores"};
    EXPECT_NEAR(makespan(run, [](Flow& flow) { one_shared(flow, 9e9, 3); }), 2, ns) << "shared: the team's time";
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2, 4.5e9); }), 2, ns)
        << "not malleable: the leader's alone, in the team's time";
}

// ---- what the runtime costs -----------------------------------------------------------------------------------

TEST(Simulated, ChargesEachSubmissionToTheSubmitter)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({1, 1})};
    run.options.submit_s = 0.5;
    // Known at 0.5, 1, 1.5 and 2 s. The second worker does the first and third until 2.5; the submitter the other two from 2 on,
    // but the second worker takes one of these at 2.5.
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 4); }), 3.5, ns);
}

TEST(Simulated, QueuesForACentralLock)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({1, 1})};
    run.options.pop_s = 0.5;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 1.5, ns);
    run.options.central_lock = true;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 2, ns);
}

TEST(Simulated, SlowsDownWithThePowerState)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({2})};
    run.machine.kinds[0].power = {{"full", 1, 1, 2}, {"half", 0.5, 1, 2}};
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 1, ns);
    run.options.power_state = "half";
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 2, ns);
    for (KernelTime& kernel : run.machine.kernels) kernel.memory_bound = true;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 1, ns);
}

TEST(Simulated, AddsUpTheEnergyOfBusyIdleAndUnusedUnits)
{
    TRC_NEEDS_SIMGRID;
    const std::string joules = in_own_process([] {
        SimulatedRun run{cores_of_speed({1, 1})};
        run.machine.kinds[0].power = {{"only", 1, 2, 10}};
        run.machine.base_w = 5;
        // Two tasks of 1 s and one: 3 s busy and 1 s idle of the cores' 4 s, and 2 s of everything else.
        const SimulationReport report = run([](Flow& flow) { independent(flow, 3); });
        return std::to_string(report.energy_j);
    });
    EXPECT_EQ(joules, std::to_string(3 * 10. + 1 * 2. + 2 * 5.));
}

/// Joules of cores, package, memory and all of a core that computes for 2 s beside one that does for 1 s and then waits for 1 s.
std::string joules_of(SimulationOptions options)
{
    return in_own_process([&] {
        SimulatedRun run{cores_of_speed({1, 1}), "eager", options};
        run.machine.kinds[0].power = {{"full", 1, 2, 10, 6}, {"low", 0.5, 1, 4, 3}};
        run.machine.nodes[0].package_w = 4;
        run.machine.nodes[0].memory_w = 1.5;
        run.machine.base_w = 5;
        const SimulationReport report = run([](Flow& flow) { independent(flow, 3); });
        std::ostringstream text;
        text << report.cores_j << ' ' << report.package_j << ' ' << report.memory_j << ' ' << report.energy_j;
        return text.str();
    });
}

TEST(Simulated, TellsWhatWaitersDrawByWhetherTheyLookForWorkSleepOrCannot)
{
    TRC_NEEDS_SIMGRID;
    EXPECT_EQ(joules_of({}), "32 40 3 53"); // 3 s busy, 1 s asleep; 2 s of what is around the cores
    EXPECT_EQ(joules_of({.spin_s = 0.25}), "33 41 3 54");
    EXPECT_EQ(joules_of({.spin_s = 100}), "36 44 3 57");
    EXPECT_EQ(joules_of({.spin_s = 0.25, .awake_state = "low"}), "33.75 41.75 3 54.75");
    EXPECT_THAT(joules_of({.awake_state = "lower"}), HasSubstr("has no power state 'lower'"));
}

// ---- effects that draw lots -----------------------------------------------------------------------------------

std::string trace_of(std::uint64_t seed)
{
    return in_own_process([seed] {
        SimulatedRun run{cores_of_speed({1, 1, 3, 4})};
        run.options.seed = seed;
        run.options.jitter = 0.2;
        run.options.remap_s = 0.7;
        run.trace = true;
        run([](Flow& flow) {
            static char data[8];
            for (int i = 0; i < 200; ++i)
                flow.submit(shared_work, SharedCost{1e9 + i * 1e7, 4}, {read(data + i % 3), readwrite(data + 3 + i % 5)});
        });
        return run.events;
    });
}

TEST(Simulated, IsTheSameForASeedAndNotForAnother)
{
    TRC_NEEDS_SIMGRID;
    const std::string first = trace_of(7);
    EXPECT_GT(first.size(), 200u * 10);
    EXPECT_EQ(first, trace_of(7));
    EXPECT_NE(first, trace_of(8));
}

TEST(Simulated, SpreadsKernelTimesWithinTheJitter)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({1})};
    run.options.jitter = 0.5;
    const double one = makespan(run, [](Flow& flow) { independent(flow, 1); });
    EXPECT_GE(one, 0.5 - ns);
    EXPECT_LE(one, 1.5 + ns);
    EXPECT_NE(one, 1);
    // 64 draws from [0.5, 1.5]: standard deviation of the mean 0.29 / 8 = 0.036; four of them.
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 64); }) / 64, 1, 4 * 0.036);
}

TEST(Simulated, MovesThreadsBetweenCoresInTheMiddleOfATask)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{cores_of_speed({1, 4})};
    run.options.remap_s = 0.25;
    // One task of 4 Gflop: 4 s on the slow core, 1 s on the fast one. Moved at random it takes something between.
    const double moved = makespan(run, [](Flow& flow) { independent(flow, 1, 4e9); });
    EXPECT_GT(moved, 1 + ns);
    EXPECT_LT(moved, 4 - ns);
}

// ---- errors ---------------------------------------------------------------------------------------------------

TEST(Simulated, RefusesASecondSimulationInTheProcess)
{
    TRC_NEEDS_SIMGRID;
    const std::string answer = in_own_process([] {
        SimulatedRun{cores_of_speed({1})}([](Flow&) {});
        SimulatedRun{cores_of_speed({1})}([](Flow&) {});
        return std::string("no error");
    });
    EXPECT_THAT(answer, HasSubstr("one simulation per process"));
}

TEST(Simulated, NamesTheTaskThatNobodyIsGiven)
{
    TRC_NEEDS_SIMGRID;
    static constexpr Codelet unknown = codelet_of<Cost>("unknown");
    const std::string answer = in_own_process([] {
        SimulatedRun{cores_of_speed({1}), "mosaic"}([](Flow& flow) {
            static char x;
            independent(flow, 1);
            flow.submit(unknown, Cost{1e9}, {readwrite(&x)});
        });
        return std::string("no error");
    });
    EXPECT_THAT(answer, StartsWith("error: "));
    EXPECT_THAT(answer, HasSubstr("'unknown'"));
}

TEST(Simulated, EndsAFlowWhoseBodyThrows)
{
    TRC_NEEDS_SIMGRID;
    const std::string answer = in_own_process([] {
        SimulatedRun{cores_of_speed({1, 1})}([](Flow& flow) {
            independent(flow, 5);
            throw std::runtime_error("from the body");
        });
        return std::string("no error");
    });
    EXPECT_EQ(answer, "error: from the body");
}

// ---- memory nodes ---------------------------------------------------------------------------------------------

/// So many equal cores on each node.
Machine nodes_of(const std::vector<int>& cores)
{
    Machine machine = cores_of_speed(std::vector<double>(std::size_t(std::accumulate(cores.begin(), cores.end(), 0)), 1));
    machine.nodes.clear();
    std::size_t core = 0;
    for (std::size_t node = 0; node < cores.size(); ++node) {
        machine.nodes.push_back({"node" + std::to_string(node), 1e12});
        for (int i = 0; i < cores[node]; ++i) machine.cores[core++].node = static_cast<int>(node);
    }
    return machine;
}

class SimulatedNodes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, SimulatedNodes,
                         ::testing::Values("mosaic", "eager", "ws", "numa-ws", "heft", "virtual-cores"));

TEST_P(SimulatedNodes, KeepTheirTasksToTheirWorkers)
{
    TRC_NEEDS_SIMGRID;
    const auto bound = [](Flow& flow) {
        for (int i = 0; i < 6; ++i) flow.submit(work, Cost{1e9}, {}, {.node = 1});
    };
    EXPECT_NEAR(makespan({nodes_of({2, 1}), GetParam()}, bound), 6, ns);
    EXPECT_NEAR(makespan({nodes_of({1, 2}), GetParam()}, bound), 3, ns);
}

TEST_P(SimulatedNodes, LetOnlyTheirWorkersJoinTheirOperations)
{
    TRC_NEEDS_SIMGRID;
    const auto one = [](Flow& flow) { flow.submit(shared_work, SharedCost{8e9, 8}, {}, {.node = 0}); };
    EXPECT_NEAR(makespan({nodes_of({2, 2}), "eager"}, one), 4, ns);
    EXPECT_NEAR(makespan({nodes_of({1, 3}), "eager"}, one), 8, ns);
}

TEST(Simulated, RunsTasksOfANodeWithoutWorkersAnywhere)
{
    TRC_NEEDS_SIMGRID;
    const auto elsewhere = [](Flow& flow) {
        for (int i = 0; i < 4; ++i) flow.submit(work, Cost{1e9}, {}, {.node = 7});
    };
    EXPECT_NEAR(makespan({nodes_of({1, 1})}, elsewhere), 2, ns);
}

TEST(Simulated, RefusesAPolicyThatAsksWhereDataAreWhenThereIsOneMemory)
{
    TRC_NEEDS_SIMGRID;
    const std::string answer = in_own_process([] {
        SimulatedRun{cores_of_speed({1, 1}), "h1"}([](Flow&) {});
        return std::string("no error");
    });
    EXPECT_THAT(answer, HasSubstr("use that, or a machine with several memories"));
}

TEST(Simulated, RefusesAPowerStateThatNoUnitHas)
{
    TRC_NEEDS_SIMGRID;
    const std::string answer = in_own_process([] {
        SimulatedRun run{cores_of_speed({1})};
        run.options.power_state = "warp";
        run([](Flow&) {});
        return std::string("no error");
    });
    EXPECT_THAT(answer, HasSubstr("no power state 'warp'"));
}

} // namespace
} // namespace trencadis
