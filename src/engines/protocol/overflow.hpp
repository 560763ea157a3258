#pragma once
#include "graph/task.hpp"
#include "threads/lock.hpp"

#include <atomic>
#include <mutex>

namespace trencadis {

/// Ready tasks that the policy had no memory for, in the order in which they came: a chain through the tasks themselves, which
/// takes none. Any worker takes from it to whom the policy gives nothing.
class Overflow {
public:
    bool any() const { return count_.load(std::memory_order_seq_cst) > 0; }
    void add(Task& task)
    {
        std::lock_guard lock(lock_);
        task.next = nullptr;
        *end_ = &task;
        end_ = &task.next;
        count_.fetch_add(1,
                         std::memory_order_seq_cst); // before who adds looks for sleepers: one that looked before is among them
    }
    /// The first one that `allowed(task)`, or null.
    template <class Allowed> Task* take(const Allowed& allowed)
    {
        std::lock_guard lock(lock_);
        Task** place = &first_;
        while (*place && !allowed(**place)) place = &(*place)->next;
        Task* const found = *place;
        if (!found) return nullptr;
        *place = found->next;
        if (end_ == &found->next) end_ = place;
        found->next = nullptr;
        count_.fetch_sub(1, std::memory_order_relaxed);
        return found;
    }

private:
    Lock lock_;
    Task* first_ = nullptr;
    Task** end_ = &first_; ///< where the next one is put
    std::atomic<int> count_{0};
};

} // namespace trencadis
