#pragma once
#include "graph/task.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace trencadis {

/// Memory for a flow's tasks. The owner takes; any worker gives back, onto a stack that the owner empties whole (one
/// exchange), so there is no ABA. Grows to the flow's window and is used again.
class TaskPool {
public:
    /// The stack's top is the caller's, so that it can lie on the cache line that a finishing task touches next.
    explicit TaskPool(std::atomic<Task*>& returned) : returned_(returned) {}
    Task& take(); ///< owner only; may throw bad_alloc
    /// Any worker. Release: the owner that takes the task again sees the finisher's last writes.
    void give_back(Task& task)
    {
        Task* top = returned_.load(std::memory_order_relaxed);
        do task.next = top;
        while (!returned_.compare_exchange_weak(top, &task, std::memory_order_release, std::memory_order_relaxed));
    }
    /// Groups that ended with the tasks given back so far, for the dependence table. Owner only.
    AccessGroup* collect_groups();

private:
    void refill();

    Task* free_ = nullptr;
    AccessGroup* groups_ = nullptr;
    std::vector<std::unique_ptr<Task[]>> blocks_;
    std::atomic<Task*>& returned_;
};

} // namespace trencadis
