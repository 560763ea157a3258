#include "engines/native/engine.hpp"
#include "scheduling/parts/node_policies.hpp"

#include <algorithm>
#include <functional>

namespace trencadis {

/// One policy, or one per memory node beside it. A policy that cannot be made for a node's workers alone, because its options number
/// workers, is not split: binds() says so.
std::unique_ptr<Scheduler> NativeEngine::make_scheduler()
{
    const View& view = *this;
    std::vector<int> nodes;
    for (const auto& worker : workers_) nodes.push_back(worker->place.node);
    const bool several = std::adjacent_find(nodes.begin(), nodes.end(), std::not_equal_to<>()) != nodes.end();
    if (!several) return parts_.scheduler.make(view);
    try {
        auto policies = std::make_unique<NodePolicies>(view, parts_.scheduler, nodes);
        idle_on_node_.resize(std::size_t(*std::max_element(nodes.begin(), nodes.end())) + 1);
        for (const int node : nodes)
            if (!idle_on_node_[node]) idle_on_node_[node] = std::make_unique<std::atomic<int>>(0);
        splits_nodes_ = true;
        return policies;
    } catch (const Error&) {
        return parts_.scheduler.make(view);
    }
}

/// May the worker run what is for this node?
bool NativeEngine::allowed(const Worker& worker, int node) const { return !binds(node) || worker.place.node == node; }

bool NativeEngine::somebody_idle(const Task& task) const
{
    if (binds(task.node)) return idle_on_node_[task.node]->load(std::memory_order_relaxed) > 0;
    return idle_.load(std::memory_order_relaxed) > 0;
}

void NativeEngine::count_idle(const Worker& worker, int change)
{
    idle_.fetch_add(change, std::memory_order_relaxed);
    if (splits_nodes_) idle_on_node_[worker.place.node]->fetch_add(change, std::memory_order_seq_cst);
}

} // namespace trencadis
