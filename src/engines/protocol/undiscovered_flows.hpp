#pragma once
#include "graph/task_flow.hpp"
#include "threads/lock.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace trencadis {

/// The flows with tasks whose dependences are yet to be found, by workers that have nothing else to do.
class UndiscoveredFlows {
public:
    bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
    void add(TaskFlow& flow)
    {
        std::lock_guard lock(lock_);
        if (std::find(flows_.begin(), flows_.end(), &flow) == flows_.end()) flows_.push_back(&flow);
        count();
    }
    void forget(TaskFlow& flow)
    {
        std::lock_guard lock(lock_);
        std::erase(flows_, &flow);
        count();
    }
    /// Looks at a few tasks of some flow and puts those that are ready where `end` points. False: there is nothing to look at.
    /// The lock keeps the flow alive meanwhile, see forget.
    bool discover(Task** end)
    {
        constexpr int batch = 16;
        std::lock_guard lock(lock_);
        while (!flows_.empty()) {
            int found = 0;
            *end = flows_.back()->discover(batch, found);
            if (found) return true;
            flows_.pop_back();
            count();
        }
        return false;
    }

private:
    void count() { count_.store(static_cast<int>(flows_.size()), std::memory_order_relaxed); }

    Lock lock_;
    std::vector<TaskFlow*> flows_;
    std::atomic<int> count_{0}; ///< a hint for those who do not hold the lock
};

} // namespace trencadis
