#include "scheduling/parts/node_policies.hpp"

#include "base/error.hpp"
#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace trencadis::testing {
namespace {

constexpr Codelet plain{"plain", nullptr};

/// Five workers on the nodes 0, 2, 0, 2, 0; node 1 has none.
class NodePoliciesOf : public ::testing::TestWithParam<const char*> {
protected:
    /// A view whose running operations are for the nodes in `shared`.
    class SharingView final : public View {
    public:
        int workers() const override { return 5; }
        int kind(WorkerId) const override { return 0; }
        Seconds now() const override { return 0; }
        Seconds run_time(const Task&, WorkerId) const override { return 1; }
        Index chunks_left(WorkerId worker) const override { return shared.count(worker) ? 3 : 0; }
        int shared_node(WorkerId worker) const override { return shared.count(worker) ? shared.at(worker) : any_node; }
        Seconds chunk_time(WorkerId, WorkerId) const override { return 1; }
        int memories() const override { return 2; }
        std::map<WorkerId, int> shared;
    };

    Task* task(int node)
    {
        tasks_.push_back(std::make_unique<Task>());
        Task& task = *tasks_.back();
        task.codelet = &plain;
        task.node = static_cast<std::int16_t>(node);
        task.flops = 1;
        task.depth = 0;
        task.access_count = 0;
        task.priority.store(0);
        task.order.store(tasks_.size());
        return &task;
    }

    const std::vector<int> node_of_{0, 2, 0, 2, 0};
    SharingView view_;
    std::vector<std::unique_ptr<Task>> tasks_;
    NodePolicies policies_{view_, parse_scheduler(GetParam()), node_of_};
};

INSTANTIATE_TEST_SUITE_P(Policies, NodePoliciesOf,
                         ::testing::Values("mosaic", "eager", "ws", "the", "numa-ws", "heft", "libgomp", "h1", "virtual-cores"));

TEST_P(NodePoliciesOf, GiveATaskOfANodeToItsWorkersOnlyAndLoseNone)
{
    std::map<const Task*, int> given;
    for (int i = 0; i < 60; ++i)
        policies_.push(*task(i % 4 - 1), i % 6 - 1); // also for node 1, which has no worker, and for none
    for (bool any = true; any;) {
        any = false;
        for (WorkerId worker = 0; worker < 5; ++worker) {
            const Task* task = policies_.pop(worker).run;
            if (!task) continue;
            any = true;
            ++given[task];
            if (task->node == 0 || task->node == 2) {
                EXPECT_EQ(task->node, node_of_[worker]);
            }
            policies_.finished(*task, worker, 1);
        }
    }
    EXPECT_EQ(given.size(), tasks_.size()) << "each once";
    for (const auto& [task, times] : given) EXPECT_EQ(times, 1);
}

TEST_P(NodePoliciesOf, JoinTheOperationsOfTheirNodeAndOfNoNode)
{
    view_.shared = {{0, 0}};
    EXPECT_EQ(policies_.pop(1).join, no_worker) << "it is for node 0, the worker is on node 2";
    EXPECT_EQ(policies_.pop(3).join, no_worker);
    const bool joins = policies_.pop(2).join != no_worker || policies_.pop(4).join != no_worker;
    view_.shared = {{0, any_node}};
    bool joins_any = false;
    for (WorkerId worker = 1; worker < 5; ++worker) joins_any |= policies_.pop(worker).join == 0;
    EXPECT_EQ(joins, joins_any) << "a policy that joins joins both kinds";
}

/// As a device, whose memory is its own.
TEST(NodePolicies, GiveAWorkerOfNoNodeTheTasksOfNoNodeOnly)
{
    DescribedView view(3);
    const std::vector<int> nodes{0, 1, any_node};
    NodePolicies policies(view, parse_scheduler("eager"), nodes);
    std::vector<Task> tasks(4);
    for (int i = 0; i < 4; ++i) {
        tasks[std::size_t(i)].node = static_cast<std::int16_t>(i < 3 ? i % 2 : any_node);
        policies.push(tasks[std::size_t(i)], 2);
    }
    EXPECT_EQ(next_of(policies, 2, tasks), 3);
    EXPECT_EQ(next_of(policies, 2, tasks), -1);
    EXPECT_EQ(next_of(policies, 1, tasks), 1);
    EXPECT_TRUE(policies.has_room(2));
}

TEST(NodePolicies, CannotBeMadeOfTeamsThatSpanNodes)
{
    DescribedView view(4);
    const std::vector<int> nodes{0, 0, 1, 1};
    EXPECT_THROW(NodePolicies(view, parse_scheduler("virtual-cores:teams=0+1/2+3"), nodes), Error);
}

} // namespace
} // namespace trencadis::testing
