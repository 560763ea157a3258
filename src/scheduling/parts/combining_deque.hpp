#pragma once
#include "graph/task.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace trencadis {

/// A T.H.E. deque whose thieves combine their requests. The owner works at the tail without a lock and takes the lock only when
/// head and tail meet; thieves work at the head under the lock. A thief posts its request at the victim; whoever gets the
/// lock serves all that are posted, so of many thieves at one victim one works and the others receive.
///
/// Owner and thief decide the last task by Dekker's rule: each first claims (tail - 1, head + 1), then looks at the other's
/// claim, all sequentially consistent; the thief takes its claim back, the owner asks for the lock. Grows without bound.
/// Literature: T.H.E., Frigo, Leiserson, Randall 1998 (Cilk-5); combining, Hendler et al. 2010 and Gautier et al. 2013 (XKaapi).
class CombiningDeque {
public:
    /// A thief's request; one at a time, so one per worker is enough.
    struct alignas(64) Thief {
        Thief* next = nullptr; ///< written before the request is posted, read by whoever serves it
        Task* task = nullptr;  ///< the answer
        std::atomic<bool> answered{true};
    };

    void push(Task* task) ///< owner
    {
        const std::int64_t tail = tail_.load(std::memory_order_relaxed);
        // One slot stays free: a thief raises the head before it reads the slot.
        if (tail - head_.load(std::memory_order_acquire) >= size_of_ring() - 1) grow();
        slot(tail) = task;
        tail_.store(tail + 1, std::memory_order_release);
    }
    Task* take() ///< owner: the newest
    {
        const std::int64_t tail = tail_.load(std::memory_order_relaxed) - 1;
        if (head_.load(std::memory_order_acquire) <= tail) {
            tail_.store(tail, std::memory_order_seq_cst);
            if (head_.load(std::memory_order_seq_cst) <= tail) return slot(tail);
            tail_.store(tail + 1, std::memory_order_seq_cst);
        }
        // Empty, or a thief has raised the head and may take it back: with the lock there is no such thief.
        std::lock_guard lock(mutex_);
        if (head_.load(std::memory_order_relaxed) > tail) return nullptr;
        tail_.store(tail, std::memory_order_seq_cst);
        return slot(tail);
    }
    /// Any other thread: the oldest; null when there was none for this request. Waits for nobody but the thief that serves. A
    /// claim that another thief is taking back may hide the last task for a moment; that thief looks again before it sleeps.
    Task* steal(Thief& self)
    {
        if (empty()) return nullptr;
        self.answered.store(false, std::memory_order_relaxed);
        post(self);
        for (int turn = 1; !self.answered.load(std::memory_order_acquire); ++turn) {
            if (mutex_.try_lock()) {
                serve();
                mutex_.unlock();
            } else if (turn % 64 == 0) std::this_thread::yield(); // the one that serves may wait for this very core
        }
        return self.task;
    }
    std::int64_t size() const { return tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire); }
    bool empty() const { return head_.load(std::memory_order_seq_cst) >= tail_.load(std::memory_order_seq_cst); }

    /// While it is held no request is answered, and requests gather.
    std::unique_lock<std::mutex> hold_requests() { return std::unique_lock(mutex_); }
    /// Requests posted and not answered. Only while they are held.
    int gathered() const
    {
        int count = 0;
        for (const Thief* thief = requests_.load(std::memory_order_acquire); thief; thief = thief->next) ++count;
        return count;
    }
    /// Locks that thieves were spared so far: of each batch of requests all but one.
    std::int64_t combined() const { return combined_.load(std::memory_order_relaxed); }

private:
    void post(Thief& self)
    {
        Thief* top = requests_.load(std::memory_order_relaxed);
        do self.next = top;
        while (!requests_.compare_exchange_weak(top, &self, std::memory_order_release, std::memory_order_relaxed));
    }
    /// Under the lock.
    void serve()
    {
        std::int64_t served = 0;
        for (Thief* thief = requests_.exchange(nullptr, std::memory_order_acquire); thief; ++served) {
            Thief* next = thief->next; // an answered thief may post again at once
            thief->task = take_oldest();
            thief->answered.store(true, std::memory_order_release);
            thief = next;
        }
        if (served > 1) combined_.store(combined_.load(std::memory_order_relaxed) + served - 1, std::memory_order_relaxed);
    }
    /// Under the lock.
    Task* take_oldest()
    {
        const std::int64_t head = head_.load(std::memory_order_relaxed);
        if (head >= tail_.load(std::memory_order_acquire)) return nullptr;
        head_.store(head + 1, std::memory_order_seq_cst);
        if (head + 1 <= tail_.load(std::memory_order_seq_cst)) return slot(head);
        head_.store(head, std::memory_order_seq_cst);
        return nullptr;
    }
    /// Owner. Thieves read the ring under the lock only.
    void grow()
    {
        std::lock_guard lock(mutex_);
        const std::int64_t head = head_.load(std::memory_order_relaxed), tail = tail_.load(std::memory_order_relaxed);
        std::vector<Task*> larger(2 * ring_.size());
        for (std::int64_t i = head; i < tail; ++i) larger[i & (larger.size() - 1)] = slot(i);
        ring_.swap(larger);
    }
    std::int64_t size_of_ring() const { return static_cast<std::int64_t>(ring_.size()); }
    Task*& slot(std::int64_t i) { return ring_[i & (ring_.size() - 1)]; }

    alignas(64) std::atomic<std::int64_t> head_{0};
    std::mutex mutex_;
    std::atomic<Thief*> requests_{nullptr};
    std::atomic<std::int64_t> combined_{0};
    alignas(64) std::atomic<std::int64_t> tail_{0};
    std::vector<Task*> ring_ = std::vector<Task*>(64);
};

} // namespace trencadis
