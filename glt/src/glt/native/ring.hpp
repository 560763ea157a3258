#pragma once
#include <cstdint>
#include <vector>

namespace trencadis::ult {

/// First in, first out, of one thread; grows as needed.
template <class T> class Ring {
public:
    bool empty() const { return head_ == tail_; }
    std::uint64_t size() const { return tail_ - head_; }
    void push(T* item)
    {
        if (tail_ - head_ == cells_.size()) [[unlikely]]
            grow();
        cells_[tail_++ & mask_] = item;
    }
    /// The oldest, or null.
    T* pop()
    {
        if (head_ == tail_) return nullptr;
        return cells_[head_++ & mask_];
    }
    /// The one `distance` behind the oldest; only where there is one.
    T* peek(std::uint64_t distance) const { return cells_[(head_ + distance) & mask_]; }
    /// Takes `item` out, wherever it stands.
    bool remove(T* item)
    {
        for (std::uint64_t i = head_; i != tail_; ++i) {
            if (cells_[i & mask_] != item) continue;
            for (; i != head_; --i) cells_[i & mask_] = cells_[(i - 1) & mask_];
            ++head_;
            return true;
        }
        return false;
    }

private:
    void grow()
    {
        std::vector<T*> larger(cells_.size() * 2);
        const std::uint64_t count = size();
        for (std::uint64_t i = 0; i < count; ++i) larger[i] = cells_[(head_ + i) & mask_];
        cells_ = std::move(larger);
        mask_ = cells_.size() - 1;
        head_ = 0;
        tail_ = count;
    }
    std::uint64_t head_ = 0, tail_ = 0, mask_ = 255;
    std::vector<T*> cells_ = std::vector<T*>(256);
};

} // namespace trencadis::ult
