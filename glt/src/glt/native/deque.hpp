#pragma once
#include "glt/native/fences.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace trencadis::ult {

/// Work-stealing deque of pointers: the owner pushes and pops at the bottom, anybody takes from the top.
///
/// Chase, Lev 2005 with the orders of Le, Pop, Cohen, Zappa Nardelli 2013. Invariant: the items are cells [top, bottom); top only
/// grows, and whoever moves it by compare-and-swap owns the cell it left. The owner lowers bottom, fences, reads top: either it
/// sees a thief that took its cell, or that thief, which reads top, fences, reads bottom, sees the cell gone.
template <class T> class Deque {
public:
    Deque() : array_(Array::make(256, nullptr)) {}
    Deque(const Deque&) = delete;
    Deque& operator=(const Deque&) = delete;
    ~Deque()
    {
        for (Array* array = array_.load(); array;) array = Array::release(array);
    }

    /// Owner.
    void push(T* item)
    {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
        Array* array = array_.load(std::memory_order_relaxed);
        if (bottom - known_top_ >= array->size) [[unlikely]]
            array = make_room(array, bottom);
        array->cell(bottom).store(item, std::memory_order_relaxed);
        bottom_.store(bottom + 1, std::memory_order_release);
    }
    /// Owner: the newest item, or null.
    T* pop()
    {
        std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
        if (bottom <= top_.load(std::memory_order_relaxed)) return nullptr; // top only grows: certainly empty
        bottom_.store(--bottom, std::memory_order_relaxed);
        full_fence();
        std::int64_t top = top_.load(std::memory_order_relaxed);
        T* item = nullptr;
        if (top <= bottom) {
            item = array_.load(std::memory_order_relaxed)->cell(bottom).load(std::memory_order_relaxed);
            if (top < bottom) return item;
            if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) item = nullptr;
        }
        bottom_.store(bottom + 1, std::memory_order_relaxed);
        return item;
    }
    /// Owner: what pop would return, if nobody takes it before.
    T* newest() const
    {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
        if (bottom <= top_.load(std::memory_order_relaxed)) return nullptr;
        return array_.load(std::memory_order_relaxed)->cell(bottom - 1).load(std::memory_order_relaxed);
    }
    /// Anybody: the oldest item; null when there was none, or when somebody else was quicker (`lost` then becomes true).
    T* steal(bool& lost)
    {
        std::int64_t top = top_.load(std::memory_order_acquire);
        full_fence();
        if (top >= bottom_.load(std::memory_order_acquire)) return nullptr;
        T* item = array_.load(std::memory_order_acquire)->cell(top).load(std::memory_order_relaxed);
        if (top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) return item;
        lost = true;
        return nullptr;
    }
    /// Anybody; old when it returns.
    bool empty() const { return bottom_.load(std::memory_order_acquire) <= top_.load(std::memory_order_acquire); }

private:
    struct Array {
        std::int64_t size; ///< a power of two
        Array* older;      ///< thieves may still read it: kept until the deque goes
        std::atomic<T*>& cell(std::int64_t index) { return reinterpret_cast<std::atomic<T*>*>(this + 1)[index & (size - 1)]; }
        static Array* make(std::int64_t size, Array* older)
        {
            void* memory = std::calloc(1, sizeof(Array) + static_cast<std::size_t>(size) * sizeof(std::atomic<T*>));
            if (!memory) throw std::bad_alloc();
            return new (memory) Array{size, older};
        }
        static Array* release(Array* array)
        {
            Array* older = array->older;
            std::free(array);
            return older;
        }
    };

    Array* make_room(Array* array, std::int64_t bottom)
    {
        known_top_ = top_.load(std::memory_order_acquire);
        if (bottom - known_top_ < array->size) return array;
        Array* larger = Array::make(array->size * 2, array);
        for (std::int64_t i = known_top_; i < bottom; ++i)
            larger->cell(i).store(array->cell(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
        array_.store(larger, std::memory_order_release);
        return larger;
    }

    alignas(64) std::atomic<std::int64_t> top_{0};
    alignas(64) std::atomic<std::int64_t> bottom_{0}; ///< written by the owner
    std::int64_t known_top_ = 0;                      ///< the owner's, at most top_
    std::atomic<Array*> array_;                       ///< written by the owner
};

} // namespace trencadis::ult
