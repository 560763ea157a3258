#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace trencadis::testing {
namespace {

/// One worker four times as fast as the other. Tasks of one second on the fast one, in four chunks.
class MosaicOnAnUnequalPair : public ::testing::Test {
protected:
    static constexpr WorkerId fast = 0, slow = 1;
    static constexpr Codelet whole{"potrf", nullptr};
    static constexpr Codelet malleable{"gemm", nullptr, nullptr, [](const void*, const Kernels*) { return Index{4}; }};

    MosaicOnAnUnequalPair() : view_(2) { view_.speeds = {4, 1}; }
    /// A task of `seconds` on the fast worker.
    Task& add(double priority, const Codelet& codelet = whole, double seconds = 1)
    {
        Task& task = tasks_[count_++];
        task.codelet = &codelet;
        task.args = nullptr;
        task.depth = 0;
        task.flops = 4 * seconds;
        task.priority = priority;
        return task;
    }
    void push(double priority, const Codelet& codelet = whole, double seconds = 1)
    {
        scheduler().push(add(priority, codelet, seconds), no_worker);
    }
    Scheduler& scheduler()
    {
        if (!scheduler_) scheduler_ = parse_scheduler("mosaic").make(view_);
        return *scheduler_;
    }
    double priority_for(WorkerId worker)
    {
        const Task* task = scheduler().pop(worker).run;
        return task ? task->priority.load() : -1;
    }

    DescribedView view_;
    std::vector<Task> tasks_ = std::vector<Task>(64);
    std::size_t count_ = 0;
    std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(MosaicOnAnUnequalPair, TheFastWorkerTakesTheHighestRankedTask)
{
    for (const double priority : {2, 5, 3}) push(priority);
    EXPECT_EQ(priority_for(fast), 5);
    EXPECT_EQ(priority_for(fast), 3);
}

TEST_F(MosaicOnAnUnequalPair, TheSlowWorkerLeavesATaskThatTheFastOneEndsSooner)
{
    push(1);
    view_.free = {2, 0}; // done there at 3, here at 4
    const Decision decision = scheduler().pop(slow);
    EXPECT_EQ(decision.run, nullptr);
    EXPECT_DOUBLE_EQ(decision.again_in, 2) << "when the fast worker should be free";
    EXPECT_EQ(decision.exposed, 0) << "the fast worker is not asleep";
    view_.free = {3.5, 0};
    EXPECT_EQ(priority_for(slow), 1) << "done there at 4.5";
}

TEST_F(MosaicOnAnUnequalPair, AFastWorkerThatSleepsIsWokenForWhatASlowOneLeaves)
{
    push(1);
    EXPECT_EQ(scheduler().pop(slow).exposed, 1);
    view_.tick = 1e-9;
    EXPECT_EQ(scheduler().pop(slow).exposed, 1) << "while time goes by";
    EXPECT_EQ(priority_for(fast), 1);
}

TEST_F(MosaicOnAnUnequalPair, TheSlowWorkerTakesTheLowestRankedOfManyTasks)
{
    for (int i = 0; i < 8; ++i) push(i);
    EXPECT_EQ(priority_for(slow), 0) << "the fast one would come to it after seven others";
}

TEST_F(MosaicOnAnUnequalPair, NobodyWaitsForAWorkerOfWhichNobodyKnowsWhenItIsFree)
{
    push(1);
    view_.free = {std::numeric_limits<Seconds>::infinity(), 0};
    EXPECT_EQ(priority_for(slow), 1);
}

TEST_F(MosaicOnAnUnequalPair, AShortTaskGoesToWhoeverAsks)
{
    push(1, whole, 1e-5);
    EXPECT_EQ(priority_for(slow), 1);
}

TEST_F(MosaicOnAnUnequalPair, WhatTheSlowWorkerRunsIsOfferedOnlyIfTheOthersWillRunOutOfTasksFirst)
{
    for (int i = 0; i < 20; ++i) push(i, malleable);
    EXPECT_FALSE(scheduler().pop(slow).offer) << "19 seconds of work elsewhere";
    while (count_ && scheduler().pop(fast).run) {}
    push(1, malleable);
    push(2, malleable);
    view_.free = {2.5, 0}; // out of tasks at 3.5, this ends at 4
    const Decision decision = scheduler().pop(slow);
    ASSERT_NE(decision.run, nullptr);
    EXPECT_TRUE(decision.offer);
}

TEST_F(MosaicOnAnUnequalPair, AnIdleWorkerJoinsTheOperationWithMostLeft)
{
    view_.chunks = {0, 3};
    EXPECT_EQ(scheduler().pop(fast).join, slow);
    EXPECT_EQ(scheduler().pop(slow).join, no_worker) << "nobody joins itself";
}

TEST(Mosaic, PutsATaskWhereItEndsFirstTransfersCounted)
{
    DescribedView view(2);
    view.nodes = {0, 1};
    view.transfer = [](const Task&, int node) { return node == 0 ? 3.0 : 0.0; };
    const auto scheduler = parse_scheduler("mosaic").make(view);
    static constexpr Codelet codelet{"gemm", nullptr};
    std::vector<Task> tasks(5);
    for (Task& task : tasks) {
        task.codelet = &codelet;
        task.depth = 0;
        task.flops = 1;
        task.priority = 0;
        scheduler->push(task, no_worker);
    }
    // Three end there before a transfer is over; the fourth and fifth tie or gain by moving, one goes over.
    int here = 0;
    while (scheduler->pop(1).run) ++here;
    EXPECT_GE(here, 3);
}

/// Two cores, and a device that is sixteen times as fast, with a list of its own.
class MosaicWithADevice : public ::testing::Test {
protected:
    static constexpr WorkerId core = 0, device = 2;
    static constexpr Codelet codelet{"gemm", nullptr};

    MosaicWithADevice() : view_({0, 0, 1})
    {
        view_.speeds = {1, 1, 16};
        view_.nodes = {0, 0, 1};
        view_.transfer = [](const Task&, int node) { return node == 0 ? 0.1 : 0.0; };
        scheduler_ = parse_scheduler("mosaic").make(view_);
    }
    void push(double priority, double seconds_on_core = 16)
    {
        Task& task = tasks_[count_++];
        task.codelet = &codelet;
        task.depth = 0;
        task.flops = seconds_on_core;
        task.priority = priority;
        scheduler_->push(task, no_worker);
    }

    DescribedView view_;
    std::vector<Task> tasks_ = std::vector<Task>(64);
    std::size_t count_ = 0;
    std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(MosaicWithADevice, ACriticalTaskIsNoCoresBecauseOfWhatItOvertakesOnTheDevice)
{
    view_.free = {0, 0, 2};
    for (int i = 0; i < 8; ++i) push(1);
    push(2, 8); // at 8.1 on a core, at 10.5 behind all that the device has, at 2.5 before all
    EXPECT_EQ(scheduler_->pop(core).run, nullptr);
    EXPECT_EQ(next_of(*scheduler_, device, tasks_), 8);
}

TEST_F(MosaicWithADevice, ACoreTakesWhatTheDeviceWouldEndLater)
{
    view_.free = {0, 0, 2};
    for (int i = 0; i < 18; ++i) push(1);
    EXPECT_NE(scheduler_->pop(core).run, nullptr);
}

TEST_F(MosaicWithADevice, WakesNoCoreForWhatTheDeviceHasUnlessItWouldEndSomeSooner)
{
    push(1);
    EXPECT_EQ(scheduler_->for_workers_below(device, 1), 0);
    const Decision idle = scheduler_->pop(core);
    EXPECT_EQ(idle.run, nullptr);
    EXPECT_NEAR(idle.again_in, 0.1 * (16.1 - 1), 1e-9) << "over there at 1, but far apart: not asked before long";
    for (int i = 0; i < 3; ++i) push(1);
    EXPECT_EQ(scheduler_->for_workers_below(device, 3), 0);
    view_.free = {0, 0, 100};
    EXPECT_EQ(scheduler_->for_workers_below(device, 0), 1) << "one of them ends sooner on a core now";
    push(1);
    EXPECT_EQ(scheduler_->for_workers_below(device, 1), 1) << "it is the cores'";
}

TEST_F(MosaicWithADevice, AnIdleCoreLeavesWhatTheDeviceEndsSooner)
{
    for (int i = 0; i < 12; ++i) push(12 - i);
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(scheduler_->pop(core).run, nullptr);
        EXPECT_EQ(next_of(*scheduler_, device, tasks_), i);
        view_.free = {0, 0, view_.time + 2}; // two in flight
        view_.time += 1;
    }
}

} // namespace
} // namespace trencadis::testing
