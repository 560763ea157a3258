#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::DescribedView;
using testing::next_of;

/// Two workers on each of four memory nodes.
class NodeDeques : public ::testing::Test {
protected:
    NodeDeques() { view_.nodes = {0, 0, 1, 1, 2, 2, 3, 3}; }
    void start(const std::string& name) { scheduler_ = parse_scheduler(name).make(view_); }
    int next(WorkerId worker) { return next_of(*scheduler_, worker, tasks_); }

    DescribedView view_{8};
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<Task> tasks_ = std::vector<Task>(8);
};

TEST_F(NodeDeques, WorkersOfANodeShareItsDequeAndTakeTheNewest)
{
    start("numa-ws");
    for (int i = 0; i < 3; ++i) scheduler_->push(tasks_[i], 2);
    EXPECT_EQ(next(2), 2);
    EXPECT_EQ(next(3), 1);
}

TEST_F(NodeDeques, AnIdleNodeTakesTheOldestOfTheNearestNumber)
{
    start("numa-ws");
    scheduler_->push(tasks_[0], 0);
    scheduler_->push(tasks_[1], 6);
    scheduler_->push(tasks_[2], 6);
    scheduler_->push(tasks_[3], 2);
    EXPECT_EQ(next(5), 3) << "node 2: own, then 1 and 3, then 0";
    EXPECT_EQ(next(5), 1);
    EXPECT_EQ(next(5), 2);
    EXPECT_EQ(next(5), 0);
    EXPECT_EQ(next(5), -1);
}

TEST_F(NodeDeques, OrTheFullest)
{
    start("numa-ws:from=fullest");
    scheduler_->push(tasks_[0], 2);
    for (int i = 1; i < 4; ++i) scheduler_->push(tasks_[i], 6);
    for (const int expected : {1, 2}) EXPECT_EQ(next(0), expected);
}

TEST_F(NodeDeques, ByDataATaskGoesWhereMostOfItsBytesAre)
{
    view_.valid = [](const Task&, int node) { return node == 3 ? 80.0 : 20.0; };
    start("numa-ws");
    scheduler_->push(tasks_[0], 0);
    scheduler_->push(tasks_[1], 2);
    EXPECT_EQ(next(7), 1);
    EXPECT_EQ(next(6), 0);
}

TEST_F(NodeDeques, OfOmpssStaysOnTheSocketOfTheOneThatReleasedIt)
{
    view_.valid = [](const Task&, int node) { return node == 3 ? 80.0 : 20.0; };
    start("ompss-socket");
    scheduler_->push(tasks_[0], 0);
    scheduler_->push(tasks_[1], 6);
    EXPECT_EQ(next(1), 0);
    EXPECT_EQ(next(7), 1);
}

TEST_F(NodeDeques, TasksFromOutsideAreDealtToTheNodesInTurn)
{
    start("numa-ws");
    for (int i = 0; i < 8; ++i) scheduler_->push(tasks_[i], no_worker);
    EXPECT_EQ(next(0), 4);
    EXPECT_EQ(next(2), 5);
    EXPECT_EQ(next(4), 6);
    EXPECT_EQ(next(6), 7);
}

} // namespace
} // namespace trencadis
