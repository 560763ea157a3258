#include "scheduling/deque.hpp"
#include "scheduling/scheduler.hpp"
#include "scheduling/speed_estimates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>

namespace trencadis {
namespace {

/// A described machine without threads.
class StillView final : public View {
public:
    int workers() const override { return 3; }
    int kind(WorkerId) const override { return 0; }
    Seconds now() const override { return 0; }
    Seconds run_time(const Task&, WorkerId) const override { return 1; }
    Index chunks_left(WorkerId worker) const override { return chunks[worker]; }
    std::array<Index, 3> chunks{};
};

/// Every registered policy must do these; instantiated from the registry, so that a new one is tested by being listed.
class EveryScheduler : public testing::TestWithParam<const SchedulerEntry*> {
protected:
    StillView view_;
    std::unique_ptr<Scheduler> scheduler_ = parse_scheduler(GetParam()->name).make(view_);
};

TEST_P(EveryScheduler, GivesEachTaskOnceToSomeWorker)
{
    std::vector<Task> tasks(100);
    for (std::size_t i = 0; i < tasks.size(); ++i) scheduler_->push(tasks[i], static_cast<WorkerId>(i % 4) - 1);
    std::set<Task*> seen;
    for (int idle_in_a_row = 0, worker = 0; idle_in_a_row < 3; worker = (worker + 1) % 3) {
        const Decision decision = scheduler_->pop(worker);
        idle_in_a_row = decision.run ? 0 : idle_in_a_row + 1;
        if (decision.run) {
            EXPECT_TRUE(seen.insert(decision.run).second) << "given twice";
        }
    }
    EXPECT_EQ(seen.size(), tasks.size());
}

TEST_P(EveryScheduler, SendsAnIdleWorkerToTheOperationWithMostChunksLeft)
{
    view_.chunks = {2, 5, 9};
    EXPECT_EQ(scheduler_->pop(0).join, 2);
    EXPECT_EQ(scheduler_->pop(2).join, 1);
    view_.chunks = {4, 0, 0};
    EXPECT_EQ(scheduler_->pop(0).join, no_worker) << "nobody joins itself";
}

TEST_P(EveryScheduler, HasNothingWhenNothingWasPushed)
{
    for (WorkerId worker = 0; worker < 3; ++worker) {
        const Decision decision = scheduler_->pop(worker);
        EXPECT_EQ(decision.run, nullptr);
        EXPECT_EQ(decision.join, no_worker);
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryScheduler, testing::ValuesIn(scheduler_entries().begin(), scheduler_entries().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Eager, TakesTheHighestPriorityAndAmongEqualsTheOneThatCameFirst)
{
    StillView view;
    const auto eager = parse_scheduler("eager").make(view);
    std::vector<Task> tasks(4);
    const double priorities[] = {1, 5, 5, 3};
    for (int i = 0; i < 4; ++i) {
        tasks[i].priority = priorities[i];
        eager->push(tasks[i], 0);
    }
    for (const int expected : {1, 2, 3, 0}) EXPECT_EQ(eager->pop(0).run, &tasks[expected]);
}

TEST(WorkStealing, AWorkerTakesItsNewestAndAThiefTheOldest)
{
    StillView view;
    const auto ws = parse_scheduler("ws").make(view);
    std::vector<Task> tasks(3);
    for (Task& task : tasks) ws->push(task, 0);
    EXPECT_EQ(ws->pop(1).run, &tasks[0]);
    EXPECT_EQ(ws->pop(0).run, &tasks[2]);
    EXPECT_EQ(ws->pop(2).run, &tasks[1]);
}

TEST(Registry, SuggestsTheNearestSchedulerForAnUnknownName)
{
    try {
        find_entry("scheduler", scheduler_entries(), "eagre");
        FAIL() << "found";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'eager'"), std::string::npos) << error.what();
    }
}

TEST(WorkDeque, LosesAndDoublesNothingUnderThieves)
{
    constexpr int count = 200'000;
    std::vector<Task> tasks(1000);
    WorkDeque deque;
    std::vector<std::atomic<int>> taken(tasks.size());
    std::atomic<bool> done{false};
    std::atomic<long> got{0};
    const auto note = [&](Task* task) {
        ++taken[task - tasks.data()];
        ++got;
    };
    std::vector<std::thread> thieves;
    for (int t = 0; t < 2; ++t)
        thieves.emplace_back([&] {
            while (!done)
                if (Task* task = deque.steal()) note(task);
        });
    for (int i = 0; i < count; ++i) {
        deque.push(&tasks[i % tasks.size()]);
        if (i % 3 == 0)
            if (Task* task = deque.take()) note(task);
    }
    while (Task* task = deque.take()) note(task);
    while (got < count) std::this_thread::yield();
    done = true;
    for (std::thread& thief : thieves) thief.join();
    for (const auto& times : taken) EXPECT_EQ(times, count / static_cast<int>(tasks.size()));
}

TEST(SpeedEstimates, FollowACoreThatSlowsDownWithinAFewTasks)
{
    static constexpr Codelet codelet{"kernel", nullptr};
    SpeedEstimates speeds(2, 1e9);
    EXPECT_DOUBLE_EQ(speeds.expect(0, codelet, 2e9), 2.0) << "nominal while nothing was seen";
    for (int i = 0; i < 20; ++i) speeds.observe(0, codelet, 4e9, 1);
    EXPECT_NEAR(speeds.expect(0, codelet, 4e9), 1.0, 1e-6);
    for (int i = 0; i < 8; ++i) speeds.observe(0, codelet, 4e9, 4);
    EXPECT_NEAR(speeds.expect(0, codelet, 4e9), 4.0, 1.2);
    EXPECT_DOUBLE_EQ(speeds.expect(1, codelet, 1e9), 1.0) << "the other worker was not seen";
}

} // namespace
} // namespace trencadis
