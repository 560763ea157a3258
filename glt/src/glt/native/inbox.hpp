#pragma once
#include <atomic>

namespace trencadis::ult {

/// Anybody puts in, anybody takes all of it (Treiber's stack; since all is taken at once there is no ABA). T has, or inherits, a
/// pointer `next`.
template <class T> class Inbox {
public:
    bool empty() const { return head_.load(std::memory_order_acquire) == nullptr; }
    /// A full fence on its way, for the look at sleepers that follows.
    void push(T* item)
    {
        T* head = head_.load(std::memory_order_relaxed);
        do item->next = head;
        while (!head_.compare_exchange_weak(head, item, std::memory_order_seq_cst, std::memory_order_relaxed));
    }
    /// What was put in, oldest first, linked by `next`.
    T* take_all()
    {
        if (!head_.load(std::memory_order_relaxed)) return nullptr;
        T* newest = head_.exchange(nullptr, std::memory_order_acquire);
        T* oldest = nullptr;
        while (newest) {
            T* next = static_cast<T*>(newest->next);
            newest->next = oldest;
            oldest = newest;
            newest = next;
        }
        return oldest;
    }

private:
    alignas(64) std::atomic<T*> head_{nullptr};
};

} // namespace trencadis::ult
