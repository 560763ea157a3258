#pragma once
#include "graph/task.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace trencadis {

/// A worker's deque: the owner pushes and takes at the bottom, thieves steal at the top. Lock-free, grows without bound.
/// All orders on `top_` and `bottom_` that decide the last element are sequentially consistent. Literature: Chase, Lev
/// 2005; orders after Le, Pop, Cohen, Zappa Nardelli 2013, with operations in place of fences.
class LockFreeDeque {
public:
    struct Thief {}; ///< a thief needs no state here

    LockFreeDeque() { grow(64); }

    void push(Task* task) ///< owner
    {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
        const std::int64_t top = top_.load(std::memory_order_acquire);
        Ring* ring = ring_.load(std::memory_order_relaxed);
        if (bottom - top >= ring->size) ring = grow(2 * ring->size);
        ring->at(bottom).store(task, std::memory_order_relaxed);
        bottom_.store(bottom + 1, std::memory_order_release);
    }
    Task* take() ///< owner: the newest
    {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
        Ring* ring = ring_.load(std::memory_order_relaxed);
        bottom_.store(bottom, std::memory_order_seq_cst);
        std::int64_t top = top_.load(std::memory_order_seq_cst);
        if (top > bottom) {
            bottom_.store(bottom + 1, std::memory_order_relaxed);
            return nullptr;
        }
        Task* task = ring->at(bottom).load(std::memory_order_relaxed);
        if (top != bottom) return task;
        // The last one: a thief may be after it too.
        if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) task = nullptr;
        bottom_.store(bottom + 1, std::memory_order_relaxed);
        return task;
    }
    /// Any thread: the oldest; null only when empty. A thief that was overtaken tries again: were it to give up, it might go to
    /// sleep beside a task whose wake-up it has used. Whenever one tries again another has got a task, so somebody makes
    /// progress.
    Task* steal(Thief&)
    {
        std::int64_t top = top_.load(std::memory_order_seq_cst);
        while (top < bottom_.load(std::memory_order_seq_cst)) {
            Task* task = ring_.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed);
            if (top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) return task;
        }
        return nullptr;
    }
    /// Owner; at least as many as there are, thieves may be taking some.
    std::int64_t size() const { return bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_acquire); }

private:
    struct Ring {
        explicit Ring(std::int64_t n) : size(n), slots(new std::atomic<Task*>[n]) {}
        std::atomic<Task*>& at(std::int64_t i) { return slots[i & (size - 1)]; }
        const std::int64_t size;
        std::unique_ptr<std::atomic<Task*>[]> slots;
    };
    Ring* grow(std::int64_t size)
    {
        auto larger = std::make_unique<Ring>(size);
        if (Ring* ring = ring_.load(std::memory_order_relaxed))
            for (std::int64_t i = top_.load(std::memory_order_acquire); i < bottom_.load(std::memory_order_relaxed); ++i)
                larger->at(i).store(ring->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
        // Smaller rings stay until the end: a slow thief may still read one. Together they are smaller than the newest.
        rings_.push_back(std::move(larger));
        ring_.store(rings_.back().get(), std::memory_order_release);
        return rings_.back().get();
    }

    alignas(64) std::atomic<std::int64_t> top_{0};
    alignas(64) std::atomic<std::int64_t> bottom_{0};
    std::atomic<Ring*> ring_{nullptr};
    std::vector<std::unique_ptr<Ring>> rings_; ///< owner
};

} // namespace trencadis
