#pragma once
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace trencadis {

/// The workers by memory. A node's number here is its place among the View's node numbers that have workers, in ascending order.
class Nodes {
public:
    explicit Nodes(const View& view) : view_(view)
    {
        std::vector<int> numbers;
        for (WorkerId worker = 0; worker < view.workers(); ++worker) numbers.push_back(view.node(worker));
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        first_.assign(numbers.size(), no_worker);
        for (WorkerId worker = 0; worker < view.workers(); ++worker) {
            const auto at = std::lower_bound(numbers.begin(), numbers.end(), view.node(worker)) - numbers.begin();
            of_.push_back(static_cast<int>(at));
            if (first_[at] == no_worker) first_[at] = worker;
        }
    }
    int count() const { return static_cast<int>(first_.size()); }
    int of(WorkerId worker) const { return of_[worker]; }
    /// Where most of the task's operands are valid; `home` among equals, so also when the View does not know.
    int with_most_bytes(const Task& task, int home) const
    {
        int best = home;
        Bytes most = view_.valid_bytes(task, first_[home]);
        for (int node = 0; node < count(); ++node) {
            const Bytes bytes = node == home ? 0 : view_.valid_bytes(task, first_[node]);
            if (bytes > most) {
                most = bytes;
                best = node;
            }
        }
        return best;
    }
    /// The other nodes, those with the nearest numbers first: systems number neighbours one after the other.
    std::vector<int> others_by_distance(int node) const
    {
        std::vector<int> others;
        for (int other = 0; other < count(); ++other)
            if (other != node) others.push_back(other);
        std::stable_sort(others.begin(), others.end(), [node](int a, int b) { return std::abs(a - node) < std::abs(b - node); });
        return others;
    }

private:
    const View& view_;
    std::vector<int> of_;
    std::vector<WorkerId> first_; ///< a worker of each node
};

} // namespace trencadis
