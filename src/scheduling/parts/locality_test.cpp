#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace trencadis {
namespace {

using testing::DescribedView;
using testing::next_of;

/// Workers 0 and 1 are cores of memory 0; workers 2 and 3 are devices with memories 1 and 2.
class Locality : public ::testing::Test {
protected:
    Locality() { view_.nodes = {0, 0, 1, 2}; }
    void start(const std::string& name) { scheduler_ = parse_scheduler(name).make(view_); }
    int next(WorkerId worker) { return next_of(*scheduler_, worker, tasks_); }

    DescribedView view_{std::vector<int>{0, 0, 1, 1}};
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<Task> tasks_ = std::vector<Task>(12);
};

TEST_F(Locality, ByDefaultATaskStaysWithTheOneThatReleasedIt)
{
    view_.valid = [](const Task&, int node) { return node * 100.0; };
    view_.written = [](const Task&, int node) { return node == 2; };
    start("locality-default");
    scheduler_->push(tasks_[0], 0);
    scheduler_->push(tasks_[1], 2);
    scheduler_->push(tasks_[2], 2);
    EXPECT_EQ(next(0), 0);
    EXPECT_EQ(next(2), 2) << "the newest of its own";
    EXPECT_EQ(next(3), 1) << "stolen";
}

TEST_F(Locality, ADeviceThatComputesTakesNothingFromOthersForItsSecondTask)
{
    for (const bool any : {false, true}) {
        start(any ? "locality-default:thieves=any" : "locality-default");
        for (int i = 0; i < 2; ++i) scheduler_->push(tasks_[i], 2);
        view_.free[3] = 5;
        EXPECT_EQ(next(3), any ? 0 : -1);
        EXPECT_EQ(next(2), 1) << "its own";
        view_.free[3] = std::numeric_limits<Seconds>::infinity(); // waits inside a task
        EXPECT_EQ(next(3), any ? -1 : 0);
        view_.free[3] = 0;
    }
}

TEST_F(Locality, H1SendsItWhereMostValidBytesAre)
{
    view_.valid = [this](const Task& task, int node) { return node == (&task == &tasks_[0] ? 1 : 2) ? 300.0 : 200.0; };
    start("h1");
    scheduler_->push(tasks_[0], 0);
    scheduler_->push(tasks_[1], 0);
    scheduler_->push(tasks_[2], 2);
    EXPECT_EQ(next(2), 0);
    EXPECT_EQ(next(3), 1) << "a mailbox gives the oldest first";
    EXPECT_EQ(next(3), 2);
}

TEST_F(Locality, H1AmongEqualsKeepsItWithTheOneThatReleasedIt)
{
    view_.valid = [](const Task&, int) { return 50.0; };
    start("h1");
    for (WorkerId worker = 0; worker < 4; ++worker) {
        scheduler_->push(tasks_[worker], worker);
        EXPECT_EQ(next(worker), worker);
    }
}

TEST_F(Locality, H2SendsItToAnOwnerOfWhatItWrites)
{
    view_.valid = [](const Task&, int node) { return node == 0 ? 1000.0 : 1.0; };
    view_.written = [](const Task&, int node) { return node == 2; };
    start("h2");
    scheduler_->push(tasks_[0], 0);
    scheduler_->push(tasks_[1], 3);
    EXPECT_EQ(next(3), 1) << "its deque goes before its mailbox";
    EXPECT_EQ(next(3), 0);
}

TEST_F(Locality, H2ChoosesAtRandomAmongSeveralOwnersAndTheSameForTheSameSeed)
{
    view_.written = [](const Task&, int node) { return node > 0; };
    const auto taken_by_2 = [this](int seed) {
        start("h2:mailboxes=closed,seed=" + std::to_string(seed));
        for (Task& task : tasks_) scheduler_->push(task, 0);
        std::set<int> taken;
        for (int task; (task = next(2)) >= 0;) taken.insert(task);
        return taken;
    };
    const std::set<int> first = taken_by_2(1);
    EXPECT_GT(first.size(), 0U);
    EXPECT_LT(first.size(), tasks_.size());
    EXPECT_EQ(first, taken_by_2(1));
    EXPECT_NE(first, taken_by_2(2));
}

TEST_F(Locality, H2WithoutAnOwnerKeepsItWithTheOneThatReleasedIt)
{
    start("h2");
    scheduler_->push(tasks_[0], 3);
    EXPECT_EQ(next(3), 0);
}

TEST_F(Locality, AnOwnerThatCannotRunItIsPassedOver)
{
    view_.can = [](const Task&, int kind) { return kind == 0; };
    view_.written = [](const Task&, int node) { return node == 1; };
    view_.valid = [](const Task&, int node) { return node == 1 ? 100.0 : 0.0; };
    for (const char* name : {"h1", "h2", "locality-default"}) {
        start(name);
        scheduler_->push(tasks_[0], 2);
        EXPECT_EQ(next(2), -1) << name;
        EXPECT_EQ(next(1), 0) << name << ": stolen from the device that released it";
    }
}

TEST_F(Locality, ThievesTakeFromADequeFirstAndFromAMailboxIfItIsOpen)
{
    view_.nodes = {0, 1, 2, 3};
    view_.written = [this](const Task& task, int node) { return &task == &tasks_[0] && node == 1; };
    for (const bool open : {true, false}) {
        start(open ? "h2" : "h2:mailboxes=closed");
        scheduler_->push(tasks_[0], 0); // into the mailbox of worker 1
        scheduler_->push(tasks_[1], 1); // onto its deque
        EXPECT_EQ(next(3), 1);
        EXPECT_EQ(next(3), open ? 0 : -1);
    }
    EXPECT_EQ(next(1), 0);
}

TEST_F(Locality, ACoreLeavesToADeviceWhatThatCanRunUnlessAnybodyMaySteal)
{
    for (const char* name : {"h1", "h2", "locality-default"}) {
        start(name);
        scheduler_->push(tasks_[0], 2);
        EXPECT_EQ(next(0), -1) << name;
        EXPECT_EQ(next(3), 0) << name << ": a device steals from a device";
        scheduler_->push(tasks_[1], 0);
        EXPECT_EQ(next(3), 1) << name << ": and from a core";
        start(std::string(name) + ":steal=anybody");
        scheduler_->push(tasks_[2], 2);
        EXPECT_EQ(next(0), 2) << name;
    }
}

TEST_F(Locality, TasksFromOutsideAreDealtInTurnToThoseWhoAreAble)
{
    view_.can = [](const Task&, int kind) { return kind == 1; };
    start("h1:mailboxes=closed");
    for (int i = 0; i < 4; ++i) scheduler_->push(tasks_[i], no_worker);
    for (const int expected : {0, 2, -1}) EXPECT_EQ(next(2), expected);
    for (const int expected : {1, 3, -1}) EXPECT_EQ(next(3), expected);
}

} // namespace
} // namespace trencadis
