#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::DescribedView;
using testing::next_of;

/// Workers 0 and 1 are slow, 2 and 3 are fast. Task 0 is critical, tasks 1 and 2 are not.
class Cats : public ::testing::Test {
protected:
    void start(const char* name)
    {
        scheduler_ = parse_scheduler(name).make(view_);
        const double levels[] = {9, 3, 5};
        for (int i = 0; i < 3; ++i) {
            tasks_[i].priority = levels[i];
            scheduler_->push(tasks_[i], 0);
        }
    }
    int next(WorkerId worker) { return next_of(*scheduler_, worker, tasks_); }

    DescribedView view_{std::vector<int>{0, 0, 1, 1}};
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<Task> tasks_ = std::vector<Task>(8);
};

TEST_F(Cats, FastCoresStealFromSlowOnesAndNotTheOtherWayRound)
{
    start("cats");
    EXPECT_EQ(next(0), 2) << "the longest path of the non-critical";
    EXPECT_EQ(next(1), 1);
    EXPECT_EQ(next(0), -1) << "the critical one is not for slow cores";
    EXPECT_EQ(next(2), 0);
    start("cats");
    EXPECT_EQ(next(2), 0);
    EXPECT_EQ(next(3), 2) << "an idle fast core takes from the slow ones";
}

TEST_F(Cats, InBothDirectionsAnIdleSlowCoreTakesACriticalTask)
{
    start("cats:stealing=both");
    EXPECT_EQ(next(0), 2);
    EXPECT_EQ(next(0), 1);
    EXPECT_EQ(next(0), 0);
    start("cats:stealing=both");
    EXPECT_EQ(next(2), 0);
    EXPECT_EQ(next(2), 2);
}

TEST_F(Cats, StealingFromFastToSlowOnlyLeavesTheFastIdle)
{
    start("cats:stealing=slow-from-fast");
    EXPECT_EQ(next(2), 0);
    EXPECT_EQ(next(2), -1);
    start("cats:stealing=slow-from-fast");
    for (const int expected : {2, 1, 0}) EXPECT_EQ(next(1), expected);
}

TEST_F(Cats, WithoutStealingEachSideHasItsOwn)
{
    start("cats:stealing=none");
    EXPECT_EQ(next(3), 0);
    EXPECT_EQ(next(3), -1);
    for (const int expected : {2, 1, -1}) EXPECT_EQ(next(0), expected);
}

TEST_F(Cats, QueuesByAgeAreNotSorted)
{
    start("cats:queues=oldest");
    EXPECT_EQ(next(0), 1);
    EXPECT_EQ(next(0), 2);
}

TEST_F(Cats, ATaskIsCriticalWhenNothingUnfinishedHasALongerPath)
{
    start("cats:stealing=none");
    EXPECT_EQ(next(2), 0);
    tasks_[3].priority = 8;
    scheduler_->push(tasks_[3], 2);
    EXPECT_EQ(next(2), -1) << "task 0, level 9, still runs";
    scheduler_->finished(tasks_[0], 2, 1);
    tasks_[4].priority = 8; // as long as task 3, which waits
    scheduler_->push(tasks_[4], 2);
    EXPECT_EQ(next(2), 4);
    tasks_[5].priority = 7;
    scheduler_->push(tasks_[5], 2);
    EXPECT_EQ(next(2), -1);
    EXPECT_EQ(next(0), 3);
}

TEST_F(Cats, ALevelThatRoseAfterThePushIsForgottenWithItsTask)
{
    start("cats:stealing=none");
    EXPECT_EQ(next(2), 0);
    tasks_[0].priority = 50; // the graph grew behind it
    scheduler_->finished(tasks_[0], 2, 1);
    tasks_[3].priority = 6;
    scheduler_->push(tasks_[3], 2);
    EXPECT_EQ(next(2), 3);
}

TEST_F(Cats, TasksInsideATaskAreComparedAmongThemselves)
{
    start("cats:stealing=none");
    tasks_[3].depth = 1;
    tasks_[3].priority = 0.5;
    scheduler_->push(tasks_[3], 0);
    EXPECT_EQ(next(2), 3) << "the longest path of its own flow";
}

TEST_F(Cats, AbilityGoesBeforeCriticality)
{
    view_.can = [this](const Task& task, int kind) { return kind == (&task == &tasks_[0] ? 0 : 1); };
    start("cats:stealing=none");
    EXPECT_EQ(next(2), 2) << "only fast ones can";
    EXPECT_EQ(next(2), 1);
    EXPECT_EQ(next(2), -1);
    EXPECT_EQ(next(0), 0) << "critical, but only slow ones can";
}

TEST_F(Cats, OnAMachineOfOneKindAllAreFastAndNothingIsLost)
{
    view_.kinds = {0, 0, 0, 0};
    start("cats:stealing=none");
    for (const int expected : {0, 2, 1, -1}) EXPECT_EQ(next(1), expected);
}

TEST_F(Cats, OfThreeKindsAllButTheSlowestAreFast)
{
    view_.kinds = {2, 1, 1, 3};
    start("cats:stealing=none");
    EXPECT_EQ(next(1), 2);
    EXPECT_EQ(next(0), 0);
}

TEST(Botlev, IsCatsInOneDirection)
{
    const SchedulerSpec botlev = parse_scheduler("botlev");
    EXPECT_EQ(botlev.options.text("stealing"), "fast-from-slow");
    EXPECT_EQ(botlev.options.text("join"), "no");
    EXPECT_EQ(botlev.entry->make, parse_scheduler("cats").entry->make);
}

} // namespace
} // namespace trencadis
