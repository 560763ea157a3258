#pragma once
#include "base/error.hpp"
#include "scheduling/parts/node_policies.hpp"
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace trencadis {

/// Which workers may run what is for a memory node (TaskOptions::node), and the policy that keeps to it: where workers are on
/// several nodes, one per node beside the one for everybody's tasks. A policy that cannot be made for a node's workers alone,
/// because its options number workers, is not split, and nothing is bound.
class NodeBinding {
public:
    /// `nodes`: of each worker; any_node: it is of none, and takes only tasks that are for none.
    explicit NodeBinding(std::vector<int> nodes) : nodes_(std::move(nodes)) {}

    /// `bound`: as NodePolicies has it.
    std::unique_ptr<Scheduler> make(const View& view, const SchedulerSpec& spec, bool bound = false)
    {
        const int most = nodes_.empty() ? any_node : *std::max_element(nodes_.begin(), nodes_.end());
        std::vector<char> inhabited(std::size_t(most + 1), false);
        for (const int node : nodes_)
            if (node != any_node) inhabited[std::size_t(node)] = true;
        if (std::count(inhabited.begin(), inhabited.end(), true) < 2) return spec.make(view);
        try {
            auto policies = std::make_unique<NodePolicies>(view, spec, nodes_, bound);
            bound_ = std::move(inhabited);
            return policies;
        } catch (const Error&) {
            return spec.make(view);
        }
    }
    bool splits() const { return !bound_.empty(); }
    std::size_t nodes() const { return bound_.size(); } ///< those without workers counted; 0: not split
    bool binds(int node) const { return std::size_t(node) < bound_.size() && bound_[std::size_t(node)]; }
    /// May the worker run what is for this node?
    bool allows(WorkerId worker, int node) const { return !binds(node) || nodes_[std::size_t(worker)] == node; }

private:
    const std::vector<int> nodes_;
    std::vector<char> bound_; ///< by node; empty: not split
};

} // namespace trencadis
