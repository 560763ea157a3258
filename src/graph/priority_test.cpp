#include "graph/priority.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace trencadis {
namespace {

class BottomLevelsTest : public testing::Test {
protected:
    Task& add(std::initializer_list<Access> accesses, Seconds cost, double base = 0)
    {
        Task& task = tasks_.emplace_back();
        task.order = tasks_.size() - 1;
        std::vector<AccessNode> nodes;
        for (const Access& access : accesses) {
            AccessNode node{};
            node.task = &task;
            node.mode = access.mode;
            nodes.push_back(node);
        }
        levels_.add(task, nodes, std::vector(accesses), cost, base);
        return task;
    }
    int x_ = 0, y_ = 0;
    std::deque<Task> tasks_;
    BottomLevels levels_{1000};
};

TEST_F(BottomLevelsTest, ATasksLevelIsTheLongestPathBehindIt)
{
    Task& a = add({write(&x_)}, 1);
    Task& b = add({read(&x_), write(&y_)}, 10);
    Task& c = add({read(&x_)}, 2);
    Task& d = add({read(&y_)}, 100);
    levels_.sweep();
    EXPECT_EQ(d.priority, 100);
    EXPECT_EQ(c.priority, 2);
    EXPECT_EQ(b.priority, 110);
    EXPECT_EQ(a.priority, 111);
}

TEST_F(BottomLevelsTest, AWriterAfterReadersIsBehindEachOfThem)
{
    Task& r1 = add({read(&x_)}, 1);
    Task& r2 = add({read(&x_)}, 2);
    add({write(&x_)}, 10);
    levels_.sweep();
    EXPECT_EQ(r1.priority, 11);
    EXPECT_EQ(r2.priority, 12);
}

TEST_F(BottomLevelsTest, TheCallersPriorityIsAdded)
{
    Task& a = add({write(&x_)}, 1, 1000);
    add({read(&x_)}, 5);
    levels_.sweep();
    EXPECT_EQ(a.priority, 1006);
}

TEST_F(BottomLevelsTest, FinishedTasksAreForgotten)
{
    Task& a = add({write(&x_)}, 1);
    a.order = Task::finished;
    Task& b = add({read(&x_)}, 5);
    levels_.sweep();
    EXPECT_EQ(b.priority, 5);
    EXPECT_EQ(a.priority, 1) << "its memory may already be another task's";
}

TEST_F(BottomLevelsTest, AChainLongerThanTheMemoryKeepsTheLevelsOfTheNewestPart)
{
    BottomLevels small(16);
    std::deque<Task> tasks;
    for (int i = 0; i < 500; ++i) {
        Task& task = tasks.emplace_back();
        task.order = i;
        AccessNode node{};
        node.task = &task;
        node.mode = AccessMode::readwrite;
        const Access access = readwrite(&x_);
        small.add(task, {&node, 1}, {&access, 1}, 1, 0);
    }
    small.sweep();
    EXPECT_EQ(tasks[499].priority, 1);
    EXPECT_EQ(tasks[490].priority, 10);
}

TEST_F(BottomLevelsTest, AFlowThatIsSubmittedWholeHasExactLevelsFromItsFirstTaskOn)
{
    constexpr int length = 100'000; // beyond what is kept of flows whose window moves on
    BottomLevels whole(std::int64_t{1} << 40);
    std::deque<Task> tasks;
    for (int i = 0; i < length; ++i) {
        Task& task = tasks.emplace_back();
        task.order = i;
        AccessNode node{};
        node.task = &task;
        node.mode = AccessMode::readwrite;
        const Access access = readwrite(&x_);
        whole.add(task, {&node, 1}, {&access, 1}, 1, 0);
    }
    whole.sweep();
    EXPECT_EQ(tasks.front().priority, length);
    EXPECT_EQ(tasks.back().priority, 1);
}

} // namespace
} // namespace trencadis
