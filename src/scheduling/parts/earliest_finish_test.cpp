#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::DescribedView;
using testing::next_of;

class EarliestFinish : public ::testing::TestWithParam<const char*> {
protected:
    EarliestFinish()
    {
        for (Task& task : tasks_) task.flops = 12;
        view_.speeds = {1, 4};
    }
    void start() { scheduler_ = parse_scheduler(GetParam()).make(view_); }
    int next(WorkerId worker) { return next_of(*scheduler_, worker, tasks_); }

    DescribedView view_{std::vector<int>{0, 1}};
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<Task> tasks_ = std::vector<Task>(6);
};
INSTANTIATE_TEST_SUITE_P(Both, EarliestFinish, ::testing::Values("dmda", "heft"));

TEST_P(EarliestFinish, SpreadsEqualTasksInProportionToTheSpeeds)
{
    start();
    for (int i = 0; i < 5; ++i)
        scheduler_->push(tasks_[i], 0); // ends at 3, 6, 9, 12 on worker 1; the fourth or fifth at 12 on worker 0
    std::vector<int> slow, fast;
    for (int task; (task = next(0)) >= 0;) slow.push_back(task);
    for (int task; (task = next(1)) >= 0;) fast.push_back(task);
    EXPECT_EQ(slow, std::vector<int>{3});
    EXPECT_EQ(fast, (std::vector<int>{0, 1, 2, 4}));
}

TEST_P(EarliestFinish, CountsWhatAWorkerIsBusyWith)
{
    view_.time = 100;
    view_.free = {0, 110}; // 110 + 3 > 100 + 12
    start();
    scheduler_->push(tasks_[0], 0);
    EXPECT_EQ(next(1), -1);
    EXPECT_EQ(next(0), 0);
}

TEST_P(EarliestFinish, KeepsAnAccountOfItsOwnOfWhatRuns)
{
    start();
    scheduler_->push(tasks_[0], 0);
    EXPECT_EQ(next(1), 0);
    tasks_[1].flops = tasks_[2].flops = 2.5; // on worker 0: 2.5; on worker 1: 0.625, after task 0, which ends at 3
    scheduler_->push(tasks_[1], 0);
    EXPECT_EQ(next(1), -1);
    EXPECT_EQ(next(0), 1);
    scheduler_->finished(tasks_[0], 1, 1);
    scheduler_->push(tasks_[2], 0);
    EXPECT_EQ(next(1), 2) << "it has ended early";
}

TEST_P(EarliestFinish, CountsTransfers)
{
    view_.nodes = {0, 1};
    view_.transfer = [](const Task&, int node) { return node == 1 ? 10.0 : 0.0; };
    start();
    scheduler_->push(tasks_[0], 0); // 12 against 10 + 3
    EXPECT_EQ(next(1), -1);
    EXPECT_EQ(next(0), 0);
    scheduler_ = parse_scheduler(std::string(GetParam()) + ":transfers=no").make(view_);
    scheduler_->push(tasks_[0], 0);
    EXPECT_EQ(next(1), 0);
}

TEST_P(EarliestFinish, GivesATaskToAnAbleWorkerOnly)
{
    view_.can = [](const Task&, int kind) { return kind == 0; };
    start();
    for (int i = 0; i < 4; ++i) scheduler_->push(tasks_[i], 1);
    EXPECT_EQ(next(1), -1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(next(0), i);
}

TEST_P(EarliestFinish, DealsTasksOfUnknownCostToTheWorkersInTurn)
{
    view_.speeds = {1e300, 1e300};
    start();
    for (int i = 0; i < 4; ++i) scheduler_->push(tasks_[i], 0);
    EXPECT_EQ(next(0), 0);
    EXPECT_EQ(next(1), 1);
    EXPECT_EQ(next(0), 2);
    EXPECT_EQ(next(1), 3);
}

TEST(Heft, AssignsAndRunsTheLongestPathFirst)
{
    DescribedView view(std::vector<int>{0, 1});
    view.speeds = {1, 4};
    std::vector<Task> tasks(3);
    for (int i = 0; i < 3; ++i) {
        tasks[i].flops = 12;
        tasks[i].priority = i;
    }
    tasks[0].flops = 8; // the last to be assigned: 8 on worker 0, 3 + 3 + 2 on worker 1
    const auto heft = parse_scheduler("heft").make(view);
    for (Task& task : tasks) heft->push(task, 0);
    EXPECT_EQ(next_of(*heft, 0, tasks), 0);
    EXPECT_EQ(next_of(*heft, 1, tasks), 2);
    EXPECT_EQ(next_of(*heft, 1, tasks), 1);
}

TEST(Heft, CountsWhatIsBeforeATaskAndNotWhatItOvertakes)
{
    DescribedView view(std::vector<int>{0, 1});
    view.speeds = {1, 4};
    std::vector<Task> tasks(4);
    for (Task& task : tasks) task.flops = 12;
    for (int i = 0; i < 3; ++i) tasks[i].priority = 1;
    const auto heft = parse_scheduler("heft").make(view);
    for (int i = 0; i < 3; ++i) heft->push(tasks[i], 0); // ends at 3, 6, 9 on worker 1
    EXPECT_EQ(next_of(*heft, 1, tasks), 0);
    tasks[3].flops = 10; // 10 on worker 0; behind all at 11.5 on worker 1, behind what runs at 5.5
    tasks[3].priority = 2;
    heft->push(tasks[3], 0);
    EXPECT_EQ(next_of(*heft, 0, tasks), -1);
    EXPECT_EQ(next_of(*heft, 1, tasks), 3);
}

TEST_P(EarliestFinish, WaitsForNoCopyTwice)
{
    view_.nodes = {0, 1};
    Seconds copy = 6;
    view_.transfer = [&](const Task&, int node) { return node == 1 ? copy : 0.0; };
    start();
    for (int i = 0; i < 2; ++i) scheduler_->push(tasks_[i], 0); // 9 on worker 1, then 12 on worker 0
    scheduler_->push(tasks_[2], 0);                             // 18 on worker 1
    EXPECT_EQ(next(1), 0);
    EXPECT_EQ(next(1), 2); // what it needs comes meanwhile
    EXPECT_EQ(next(0), 1);
    view_.time = 9;
    scheduler_->finished(tasks_[0], 1, 9);
    copy = 0;
    scheduler_->push(tasks_[3], 0);
    EXPECT_EQ(next(1), 3);
    view_.time = 12;
    scheduler_->finished(tasks_[2], 1, 3);
    scheduler_->finished(tasks_[1], 0, 12);
    tasks_[4].flops = 10;
    scheduler_->push(tasks_[4], 0);
    EXPECT_EQ(next(0), -1) << "at 22 here, at 17.5 there";
    EXPECT_EQ(next(1), 4);
}

TEST(Dmda, AssignsAndRunsInTheOrderTheyCame)
{
    const DescribedView view(1);
    std::vector<Task> tasks(3);
    for (int i = 0; i < 3; ++i) tasks[i].priority = i;
    const auto dmda = parse_scheduler("dmda").make(view);
    for (Task& task : tasks) dmda->push(task, 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(next_of(*dmda, 0, tasks), i);
}

} // namespace
} // namespace trencadis
