#include "scheduling/scheduler.hpp"
#include "scheduling/speed_estimates.hpp"
#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <thread>

namespace trencadis {
namespace {

using testing::DescribedView;

/// Every registered policy must do these; instantiated from the registry, so that a new one is tested by being listed.
class EveryScheduler : public ::testing::TestWithParam<const SchedulerEntry*> {
protected:
    std::unique_ptr<Scheduler> make(const View& view) const { return parse_scheduler(GetParam()->name).make(view); }
    bool joins() const { return parse_scheduler(GetParam()->name).options.text("join") == "yes"; }
    bool has_join() const
    {
        for (const Parameter& parameter : GetParam()->parameters)
            if (std::string_view(parameter.name) == "join") return true;
        return false;
    }
};

/// Lets the workers ask in turn until all were told "nothing" in a row; each task must come once, to somebody able.
void expect_each_once(Scheduler& scheduler, const View& view, std::size_t count)
{
    std::set<Task*> seen;
    for (int idle_in_a_row = 0, worker = 0; idle_in_a_row < view.workers(); worker = (worker + 1) % view.workers()) {
        const Decision decision = scheduler.pop(worker);
        idle_in_a_row = decision.run ? 0 : idle_in_a_row + 1;
        if (!decision.run) continue;
        ASSERT_TRUE(seen.insert(decision.run).second) << "given twice";
        ASSERT_TRUE(view.able(*decision.run, worker)) << "worker " << worker << " cannot run it";
    }
    ASSERT_EQ(seen.size(), count);
}

TEST_P(EveryScheduler, GivesEachTaskOnceToSomeWorker)
{
    const DescribedView view(3);
    const auto scheduler = make(view);
    std::vector<Task> tasks(100);
    for (std::size_t i = 0; i < tasks.size(); ++i) scheduler->push(tasks[i], static_cast<WorkerId>(i % 4) - 1);
    expect_each_once(*scheduler, view, tasks.size());
}

TEST_P(EveryScheduler, GivesEachTaskOnceToAWorkerThatIsAbleOnRandomMachines)
{
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    static constexpr Codelet codelet{"task", nullptr};
    for (int round = 0; round < 200; ++round) {
        std::vector<int> kinds(1 + random() % 6);
        for (int& kind : kinds) kind = static_cast<int>(random() % 3);
        DescribedView view(kinds);
        for (int& node : view.nodes) node = static_cast<int>(random() % 3);
        for (double& speed : view.speeds) speed = 1 + random() % 4;
        std::vector<Task> tasks(random() % 60);
        std::vector<unsigned> masks(tasks.size());
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            masks[i] = random() % 8 | 1U << kinds[random() % kinds.size()]; // somebody is able
            tasks[i].depth = static_cast<std::uint16_t>(random() % 3);
            tasks[i].priority = static_cast<double>(random() % 5);
            tasks[i].flops = 1 + random() % 9;
            tasks[i].codelet = &codelet;
        }
        view.can = [&](const Task& task, int kind) { return (masks[&task - tasks.data()] >> kind & 1) != 0; };
        view.valid = [&](const Task& task, int node) { return masks[&task - tasks.data()] * 37 % (node + 5); };
        view.written = [&](const Task& task, int node) { return masks[&task - tasks.data()] * 37 % (node + 3) == 0; };
        const auto scheduler = make(view);
        for (Task& task : tasks) scheduler->push(task, static_cast<WorkerId>(random() % (kinds.size() + 1)) - 1);
        expect_each_once(*scheduler, view, tasks.size());
        if (HasFatalFailure()) FAIL() << "round " << round;
    }
}

/// A program may have its exceptions trapped, and a worker's decisions must not end it: nobody knows when somebody is free, tasks
/// take no time at all, or nobody else is able.
/// A device that goes while it is asked who is able: the core says no since there is the device, and the device says no.
TEST_P(EveryScheduler, KeepsATaskForSomebodyWhoeverIsLostWhileItAsks)
{
    constexpr int core = 0, device = 1;
    for (int lost_after = 0; lost_after < 6; ++lost_after) {
        static constexpr Codelet codelet{"task", nullptr};
        std::vector<Task> tasks(1);
        tasks[0].codelet = &codelet;
        DescribedView view({core, device, device + 1});
        int asked = 0;
        view.can = [&](const Task&, int kind) { return (kind == core) == (asked++ >= lost_after); };
        const auto scheduler = make(view);
        scheduler->push(tasks[0], no_worker);
        view.can = [&](const Task&, int kind) { return kind == core; }; // devices pass on what was kept for them
        int found = 0;
        for (WorkerId worker = 0; worker < view.workers(); ++worker)
            if (Task* const task = scheduler->pop(worker).run) {
                EXPECT_EQ(task, &tasks[0]);
                ++found;
            }
        EXPECT_EQ(found, 1) << lost_after;
    }
}

TEST_P(EveryScheduler, RaisesNoFloatingPointException)
{
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    constexpr double unknown = std::numeric_limits<double>::infinity(), at_once = unknown;
    static constexpr Codelet whole{"pack", nullptr},
        malleable{"gemm", nullptr, nullptr, [](const void*, const Kernels*) { return Index{4}; }};
    for (int round = 0; round < 400; ++round) {
        DescribedView view(std::vector<int>{0, 1, 1, 0});
        for (int& node : view.nodes) node = static_cast<int>(random() % 2);
        for (double& speed : view.speeds) speed = random() % 4 ? 1 + random() % 20 : at_once;
        for (Seconds& free : view.free) free = random() % 3 ? random() % 4 : unknown;
        for (Index& chunks : view.chunks) chunks = random() % 3;
        std::vector<Task> tasks(1 + random() % 12);
        view.can = [&](const Task& task, int kind) { return kind == (&task - tasks.data()) % 2 || round % 2; };
        std::feclearexcept(FE_ALL_EXCEPT);
        const auto scheduler = make(view);
        for (Task& task : tasks) {
            task.depth = 0;
            task.priority = static_cast<double>(random() % 5);
            task.flops = random() % 4;
            task.codelet = random() % 2 ? &whole : &malleable;
            scheduler->push(task, static_cast<WorkerId>(random() % 5) - 1);
        }
        for (int turn = 0; turn < 40; ++turn) scheduler->pop(static_cast<WorkerId>(random() % 4));
        ASSERT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0) << "round " << round;
    }
}

/// As while a program submits: the longest paths grow, and with them the priorities of tasks that are ready already.
TEST_P(EveryScheduler, GivesEachTaskOnceWhilePrioritiesChange)
{
    const DescribedView view(3);
    std::vector<Task> tasks(64);
    std::atomic<bool> stop{false};
    std::thread submitter([&] {
        for (unsigned i = 0; !stop.load(); ++i) tasks[i * 7919 % tasks.size()].priority.store(i, std::memory_order_relaxed);
    });
    for (int round = 0; round < 200 && !HasFatalFailure(); ++round) {
        const auto scheduler = make(view);
        for (Task& task : tasks) scheduler->push(task, no_worker);
        expect_each_once(*scheduler, view, tasks.size());
    }
    stop = true;
    submitter.join();
}

TEST_P(EveryScheduler, SendsAnIdleWorkerToTheOperationWithMostChunksLeftIfItJoinsAtAll)
{
    if (!has_join()) GTEST_SKIP() << "joins by a rule of its own, see its tests";
    DescribedView view(3);
    const auto scheduler = make(view);
    view.chunks = {2, 5, 9};
    EXPECT_EQ(scheduler->pop(0).join, joins() ? 2 : no_worker);
    EXPECT_EQ(scheduler->pop(2).join, joins() ? 1 : no_worker);
    view.chunks = {4, 0, 0};
    EXPECT_EQ(scheduler->pop(0).join, no_worker) << "nobody joins itself";
}

TEST_P(EveryScheduler, HasNothingWhenNothingWasPushed)
{
    const DescribedView view(3);
    const auto scheduler = make(view);
    for (WorkerId worker = 0; worker < 3; ++worker) {
        const Decision decision = scheduler->pop(worker);
        EXPECT_EQ(decision.run, nullptr);
        EXPECT_EQ(decision.join, no_worker);
    }
}

TEST_P(EveryScheduler, AlwaysHasRoomUnlessItSaysThatItIsBounded)
{
    const DescribedView view(3);
    const auto scheduler = make(view);
    std::vector<Task> tasks(3000);
    for (Task& task : tasks) scheduler->push(task, 1);
    EXPECT_EQ(scheduler->has_room(1), !scheduler->bounded());
    EXPECT_TRUE(scheduler->has_room(no_worker)) << "a thread that is not a worker has no container";
}

TEST_P(EveryScheduler, SaysWhatItIsAndWhereItWasPublished)
{
    EXPECT_GT(std::string_view(GetParam()->summary).size(), 10U);
    EXPECT_GT(std::string_view(GetParam()->source).size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryScheduler, ::testing::ValuesIn(scheduler_entries().begin(), scheduler_entries().end()),
                         [](const auto& info) {
                             std::string name = info.param->name;
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

TEST(Registry, SuggestsTheNearestSchedulerForAnUnknownName)
{
    try {
        find_entry("scheduler", scheduler_entries(), "eagre");
        FAIL() << "found";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'eager'"), std::string::npos) << error.what();
    }
}

TEST(Registry, RefusesPoliciesThatAskWhereDataAreOnOneMemoryAndSaysWhatToUse)
{
    DescribedView view(3);
    view.known_memories = 1;
    for (const std::string name : {"h1", "h2", "virtual-cores:inside=h2"}) {
        try {
            parse_scheduler(name).make(view);
            FAIL() << name << " was made";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            EXPECT_NE(std::string(error.what()).find("it would be 'locality-default'; use that"), std::string::npos)
                << error.what();
        }
    }
}

/// A machine that was discovered. To keep tasks apart by node would part the critical path from the fast cores, for nothing that
/// is known.
TEST(Registry, MosaicKeepsOneListWhereItIsNotKnownHowLongTransfersTake)
{
    DescribedView view(2);
    view.nodes = {0, 1};
    view.transfers_known = false;
    const auto mosaic = parse_scheduler("mosaic").make(view);
    std::vector<Task> tasks(2);
    for (int i = 0; i < 2; ++i) {
        tasks[std::size_t(i)].priority = 2 - i;
        mosaic->push(tasks[std::size_t(i)], 0);
    }
    EXPECT_EQ(testing::next_of(*mosaic, 1, tasks), 0) << "the highest, whoever asks first";
    EXPECT_EQ(testing::next_of(*mosaic, 0, tasks), 1);
}

/// Where a policy says no, an engine does not find out where data are.
TEST(Registry, PoliciesSayWhetherTheyAskWhereDataAre)
{
    DescribedView nodes(2), one_node(2), unknown(2);
    nodes.nodes = unknown.nodes = {0, 1};
    one_node.known_memories = 1;
    unknown.transfers_known = false;
    const auto asks = [](const char* name, const View& view) { return parse_scheduler(name).make(view)->asks_for_data(); };
    for (const char* name : {"h1", "h2", "numa-ws", "xkaapi", "heft", "dmda", "mosaic", "virtual-cores:teams=0/1,inside=dmda"}) {
        EXPECT_TRUE(asks(name, nodes)) << name;
        if (parse_scheduler(name).entry->in_one_memory) continue;
        EXPECT_FALSE(asks(name, one_node)) << name;
    }
    for (const char* name : {"eager", "ws", "cats", "locality-default", "ompss-socket", "dmda:transfers=no"})
        EXPECT_FALSE(asks(name, nodes)) << name;
    for (const char* name : {"heft", "dmda", "mosaic"}) EXPECT_FALSE(asks(name, unknown)) << name << " asks for transfers only";
}

TEST(SpeedEstimates, FollowACoreThatSlowsDownWithinAFewTasks)
{
    static constexpr Codelet codelet{"kernel", nullptr};
    SpeedEstimates speeds({0, 0, 1}, 1e9);
    EXPECT_DOUBLE_EQ(speeds.expect(0, codelet, 2e9, 0), 2.0) << "nominal while nothing was seen";
    for (int i = 0; i < 20; ++i) speeds.observe(0, codelet, 4e9, 1, 1);
    EXPECT_NEAR(speeds.expect(0, codelet, 4e9, 1), 1.0, 1e-6);
    EXPECT_NEAR(speeds.expect(1, codelet, 4e9, 1), 1.0, 1e-6) << "as one of its kind that was seen";
    EXPECT_NEAR(speeds.expect(2, codelet, 4e9, 1), 1.0, 1e-6) << "as any that was seen";
    for (int i = 0; i < 8; ++i) speeds.observe(0, codelet, 4e9, 4, 1);
    EXPECT_NEAR(speeds.expect(0, codelet, 4e9, 1), 4.0, 1.2);
}

TEST(SpeedEstimates, FadeToTheFastestOfTheKindSoThatACoreIsTriedAgain)
{
    static constexpr Codelet codelet{"gemm", nullptr};
    SpeedEstimates speeds({0, 0, 1}, 1e9);
    speeds.observe(0, codelet, 4e9, 1, 0);
    speeds.observe(1, codelet, 4e9, 4, 0);
    speeds.observe(2, codelet, 4e9, 8, 0);
    EXPECT_DOUBLE_EQ(speeds.expect(1, codelet, 4e9, 0.02), 4.0);
    EXPECT_LT(speeds.expect(1, codelet, 4e9, 0.06), 2.0);
    EXPECT_DOUBLE_EQ(speeds.expect(1, codelet, 4e9, 0.2), 1.0);
    EXPECT_DOUBLE_EQ(speeds.expect(2, codelet, 4e9, 0.2), 8.0) << "a slower kind stays slower";
}

} // namespace
} // namespace trencadis
