#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace trencadis::ult {

/// Binary heap by deadline. T has `std::int64_t deadline` and `std::uint32_t heap_place`, 0 while it is in no heap, which lets
/// any item leave in O(log n). Of one thread, or under a lock.
template <class T> class TimerHeap {
public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    std::int64_t earliest() const { return items_.size() > 1 ? items_[1]->deadline : never; }
    void insert(T* item)
    {
        items_.push_back(item);
        rise(items_.size() - 1);
    }
    /// Nothing when it is not in the heap.
    void remove(T* item)
    {
        const std::size_t place = item->heap_place;
        if (!place) return;
        item->heap_place = 0;
        T* last = items_.back();
        items_.pop_back();
        if (last == item) return;
        put(last, place);
        rise(place);
        sink(last->heap_place);
    }
    /// The earliest, taken out, if it is due; else null.
    T* pop_due(std::int64_t now)
    {
        if (earliest() > now || items_.size() < 2) return nullptr;
        T* item = items_[1];
        remove(item);
        return item;
    }

private:
    void put(T* item, std::size_t place)
    {
        items_[place] = item;
        item->heap_place = static_cast<std::uint32_t>(place);
    }
    void rise(std::size_t place)
    {
        T* item = items_[place];
        for (; place > 1 && item->deadline < items_[place / 2]->deadline; place /= 2) put(items_[place / 2], place);
        put(item, place);
    }
    void sink(std::size_t place)
    {
        T* item = items_[place];
        for (;;) {
            std::size_t child = 2 * place;
            if (child >= items_.size()) break;
            if (child + 1 < items_.size() && items_[child + 1]->deadline < items_[child]->deadline) ++child;
            if (item->deadline <= items_[child]->deadline) break;
            put(items_[child], place);
            place = child;
        }
        put(item, place);
    }
    std::vector<T*> items_ = std::vector<T*>(1); ///< from index 1 on
};

} // namespace trencadis::ult
