#pragma once
#include "scheduling/scheduler.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace trencadis {

/// Tasks for the workers of one memory node, under any policy: a policy of the same kind for each node, which sees that node's
/// workers and the operations of its own tasks only, beside one for the tasks of no node, which all workers share. A worker asks
/// its node's first, if it is of one. So nothing of a policy need know of nodes, and tasks of no node cost one more comparison.
///
/// Tasks for a node that has no worker are everybody's. `node_of`: the node of each worker, or any_node. Concurrent if the policy
/// is. Throws what making the policy throws: one whose options number workers cannot be made for some of them.
class NodePolicies final : public Scheduler {
public:
    /// `bound`: every task that can be joined is for a node, so the policy for everybody is not asked before it has one.
    NodePolicies(const View& view, const SchedulerSpec& spec, std::span<const int> node_of, bool bound = false);
    ~NodePolicies() override;

    void push(Task& task, WorkerId released_by) override;
    Decision pop(WorkerId worker) override;
    void finished(const Task& task, WorkerId worker, Seconds took) override;
    std::span<const WorkerId> followers(WorkerId worker) const override { return everybody_->followers(worker); }
    bool has_room(WorkerId worker) const override;
    bool wakes_all() const override { return everybody_->wakes_all(); }
    bool bounded() const override { return everybody_->bounded(); }
    bool wants_finished() const override { return everybody_->wants_finished(); }
    bool asks_for_data() const override { return everybody_->asks_for_data(); }

private:
    struct Part; ///< the policy of one node
    Part* part_at(int node) const;
    WorkerId inside(const Part& part, WorkerId worker) const;

    std::unique_ptr<View> whole_;
    std::unique_ptr<Scheduler> everybody_;
    std::atomic<bool> asks_everybody_;         ///< where all tasks are bound it has nothing to say until it was given one
    std::vector<std::unique_ptr<Part>> parts_; ///< by node; null where no worker is
    std::vector<int> node_of_;
    std::vector<WorkerId> number_; ///< a worker's number inside its node
};

} // namespace trencadis
