#pragma once
#include "graph/task.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace trencadis {

/// A worker's deque with every operation under one lock, as the early runtimes have it: the owner at the bottom, thieves at the
/// top. Literature: the locked deques of Cilk-like OpenMP runtimes (libomp; Lima et al. 2019).
class LockedDeque {
public:
    struct Thief {}; ///< a thief needs no state here

    void push(Task* task)
    {
        std::lock_guard lock(mutex_);
        tasks_.push_back(task);
        size_.store(static_cast<std::int64_t>(tasks_.size()), std::memory_order_release);
    }
    Task* take() ///< the newest
    {
        if (size() == 0) return nullptr;
        std::lock_guard lock(mutex_);
        if (tasks_.empty()) return nullptr;
        Task* task = tasks_.back();
        tasks_.pop_back();
        size_.store(static_cast<std::int64_t>(tasks_.size()), std::memory_order_release);
        return task;
    }
    Task* steal(Thief&) ///< the oldest
    {
        if (size() == 0) return nullptr;
        std::lock_guard lock(mutex_);
        if (tasks_.empty()) return nullptr;
        Task* task = tasks_.front();
        tasks_.pop_front();
        size_.store(static_cast<std::int64_t>(tasks_.size()), std::memory_order_release);
        return task;
    }
    std::int64_t size() const { return size_.load(std::memory_order_acquire); }

private:
    std::mutex mutex_;
    std::deque<Task*> tasks_;
    std::atomic<std::int64_t> size_{0}; ///< so that nobody locks an empty deque
};

} // namespace trencadis
