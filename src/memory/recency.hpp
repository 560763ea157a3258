#pragma once
#include <cstddef>
#include <vector>

namespace trencadis {

/// Small numbers in the order of their last use: a doubly linked list in two arrays, every operation in constant time.
class Recency {
public:
    static constexpr int none = -1;

    int least_recent() const { return oldest_; }
    int next(int item) const { return newer_[item]; } ///< the next more recent one
    bool contains(int item) const { return std::size_t(item) < newer_.size() && (newer_[item] != none || newest_ == item); }

    /// Makes `item` the most recent, adding it when it is not in the list.
    void touch(int item)
    {
        if (newest_ == item) return;
        if (contains(item)) remove(item);
        if (std::size_t(item) >= newer_.size()) {
            newer_.resize(item + 1, none);
            older_.resize(item + 1, none);
        }
        older_[item] = newest_;
        newer_[item] = none;
        (newest_ == none ? oldest_ : newer_[newest_]) = item;
        newest_ = item;
    }
    void remove(int item)
    {
        if (!contains(item)) return;
        const int newer = newer_[item], older = older_[item];
        (newer == none ? newest_ : older_[newer]) = older;
        (older == none ? oldest_ : newer_[older]) = newer;
        newer_[item] = older_[item] = none;
    }

private:
    std::vector<int> newer_, older_;
    int newest_ = none, oldest_ = none;
};

} // namespace trencadis
