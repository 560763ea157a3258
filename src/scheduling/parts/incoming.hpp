#pragma once
#include "graph/task.hpp"

#include <atomic>

namespace trencadis {

/// Tasks that others leave for a group of workers; whoever is idle takes all of them. Any thread, lock-free. Literature: Treiber
/// 1986; taken whole, so that no element comes back while somebody still looks at it.
class Incoming {
public:
    void push(Task& task)
    {
        Task* top = top_.load(std::memory_order_relaxed);
        do task.next = top;
        while (!top_.compare_exchange_weak(top, &task, std::memory_order_release, std::memory_order_relaxed));
    }
    /// Linked by `next`, the newest first.
    Task* take_all()
    {
        if (!top_.load(std::memory_order_relaxed)) return nullptr;
        return top_.exchange(nullptr, std::memory_order_acquire);
    }

private:
    alignas(64) std::atomic<Task*> top_{nullptr};
};

} // namespace trencadis
