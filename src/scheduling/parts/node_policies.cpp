#include "scheduling/parts/node_policies.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trencadis {
namespace {

/// Some of the workers, renumbered, and of the running operations those that are for one node, or for none.
class PartView final : public View {
public:
    PartView(const View& machine, std::vector<WorkerId> members, int node)
        : machine_(machine), members_(std::move(members)), node_(node)
    {
    }
    int workers() const override { return static_cast<int>(members_.size()); }
    int kind(WorkerId worker) const override { return machine_.kind(members_[worker]); }
    Seconds now() const override { return machine_.now(); }
    bool able(const Task& task, WorkerId worker) const override { return machine_.able(task, members_[worker]); }
    Seconds run_time(const Task& task, WorkerId worker) const override { return machine_.run_time(task, members_[worker]); }
    Seconds free_at(WorkerId worker) const override { return machine_.free_at(members_[worker]); }
    const TaskFlow* awaited(WorkerId worker) const override { return machine_.awaited(members_[worker]); }
    Index chunks_of(const Task& task, WorkerId worker) const override { return machine_.chunks_of(task, members_[worker]); }
    Index chunks_left(WorkerId worker) const override
    {
        return machine_.shared_node(members_[worker]) == node_ ? machine_.chunks_left(members_[worker]) : 0;
    }
    double shared_priority(WorkerId worker) const override { return machine_.shared_priority(members_[worker]); }
    Seconds chunk_time(WorkerId worker, WorkerId by) const override
    {
        return machine_.chunk_time(members_[worker], members_[by]);
    }
    int shared_node(WorkerId) const override { return node_; }
    int node(WorkerId worker) const override { return machine_.node(members_[worker]); }
    int memories() const override { return machine_.memories(); }
    bool knows_transfers() const override { return machine_.knows_transfers(); }
    Seconds transfer_time(const Task& task, WorkerId worker) const override
    {
        return machine_.transfer_time(task, members_[worker]);
    }
    Bytes valid_bytes(const Task& task, WorkerId worker) const override { return machine_.valid_bytes(task, members_[worker]); }
    bool holds_written(const Task& task, WorkerId worker) const override
    {
        return machine_.holds_written(task, members_[worker]);
    }
    WorkerId member(WorkerId worker) const { return members_[worker]; }

private:
    const View& machine_;
    const std::vector<WorkerId> members_;
    const int node_;
};

} // namespace

struct NodePolicies::Part {
    Part(const View& machine, const SchedulerSpec& spec, std::vector<WorkerId> members, int which)
        : node(which), view(machine, std::move(members), which), policy(spec.make(view))
    {
    }
    const int node;
    const PartView view;
    const std::unique_ptr<Scheduler> policy;
};

NodePolicies::NodePolicies(const View& view, const SchedulerSpec& spec, std::span<const int> node_of, bool bound)
    : asks_everybody_(!bound), node_of_(node_of.begin(), node_of.end()), number_(node_of.size())
{
    std::vector<WorkerId> all(node_of.size());
    std::iota(all.begin(), all.end(), 0);
    whole_ = std::make_unique<PartView>(view, all, any_node);
    everybody_ = spec.make(*whole_);
    const int nodes = node_of.empty() ? 0 : *std::max_element(node_of.begin(), node_of.end()) + 1;
    for (int node = 0; node < nodes; ++node) {
        std::vector<WorkerId> members;
        for (const WorkerId worker : all) {
            if (node_of[worker] != node) continue;
            number_[worker] = static_cast<WorkerId>(members.size());
            members.push_back(worker);
        }
        parts_.push_back(members.empty() ? nullptr : std::make_unique<Part>(view, spec, std::move(members), node));
    }
}

NodePolicies::~NodePolicies() = default;

NodePolicies::Part* NodePolicies::part_at(int node) const
{
    return node >= 0 && node < static_cast<int>(parts_.size()) ? parts_[node].get() : nullptr;
}
WorkerId NodePolicies::inside(const Part& part, WorkerId worker) const
{
    return worker != no_worker && node_of_[worker] == part.node ? number_[worker] : no_worker;
}

void NodePolicies::push(Task& task, WorkerId released_by)
{
    if (Part* part = part_at(task.node)) part->policy->push(task, inside(*part, released_by));
    else {
        asks_everybody_.store(true, std::memory_order_release);
        everybody_->push(task, released_by);
    }
}

Decision NodePolicies::pop(WorkerId worker)
{
    const Part* const part = part_at(node_of_[worker]);
    if (!part) return everybody_->pop(worker);
    Decision mine = part->policy->pop(number_[worker]);
    if (mine.join != no_worker) mine.join = part->view.member(mine.join);
    if (mine.run || mine.join != no_worker || !asks_everybody_.load(std::memory_order_acquire)) return mine;
    Decision other = everybody_->pop(worker);
    other.exposed += mine.exposed;
    if (other.again_in == 0 || (mine.again_in > 0 && mine.again_in < other.again_in)) other.again_in = mine.again_in;
    return other;
}

void NodePolicies::finished(const Task& task, WorkerId worker, Seconds took)
{
    const Part* part = part_at(task.node);
    if (part && inside(*part, worker) != no_worker) part->policy->finished(task, inside(*part, worker), took);
    else everybody_->finished(task, worker, took);
}

bool NodePolicies::has_room(WorkerId worker) const
{
    const Part* const part = part_at(node_of_[worker]);
    return everybody_->has_room(worker) && (!part || part->policy->has_room(number_[worker]));
}

} // namespace trencadis
