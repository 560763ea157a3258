#pragma once
#include "scheduling/parts/ready_queue.hpp"

#include <atomic>
#include <mutex>

namespace trencadis {

/// Tasks that only some kinds of units can run, for policies whose calls are not serialised: in a worker's deque such a task
/// could lie where nobody able looks. One queue under a lock, the oldest first; costs one load where every task can run
/// everywhere.
class SelectiveTasks {
public:
    void push(Task& task, KindSet able)
    {
        std::lock_guard lock(mutex_);
        queue_.push(task, able);
        size_.store(queue_.size(), std::memory_order_release);
    }
    Task* pop(KindSet kind)
    {
        if (size_.load(std::memory_order_acquire) == 0) return nullptr;
        std::lock_guard lock(mutex_);
        Task* task = queue_.pop(kind);
        size_.store(queue_.size(), std::memory_order_release);
        return task;
    }

private:
    std::mutex mutex_;
    ReadyQueue queue_{ReadyOrder::oldest};
    std::atomic<std::size_t> size_{0};
};

} // namespace trencadis
