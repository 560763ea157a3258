#pragma once
#include "graph/access_mode.hpp"

#include <mutex>
#include <new>
#include <vector>

namespace trencadis {

/// The private parts of consecutive `reduce` accesses to one datum: as many as tasks ran at once. Any thread.
class ReductionParts {
public:
    ReductionParts(void* datum, const Reduction& how) : datum_(datum), how_(how) {}
    ~ReductionParts()
    {
        for (void* part : all_) ::operator delete(part, alignment);
    }
    ReductionParts(const ReductionParts&) = delete;
    ReductionParts& operator=(const ReductionParts&) = delete;

    const Reduction& how() const { return how_; }
    /// For one task alone; may throw bad_alloc.
    void* acquire()
    {
        const std::lock_guard lock(mutex_);
        if (unused_.empty()) {
            all_.reserve(all_.size() + 1);
            unused_.reserve(all_.size() + 1);
            void* const part = ::operator new(how_.bytes, alignment);
            all_.push_back(part);
            how_.initialise(part);
            return part;
        }
        void* const part = unused_.back();
        unused_.pop_back();
        return part;
    }
    void give_back(void* part)
    {
        const std::lock_guard lock(mutex_);
        unused_.push_back(part); // there is room for all
    }
    /// Into the datum, when all tasks have ended.
    void combine()
    {
        for (void* part : all_) how_.combine(datum_, part);
    }

private:
    static constexpr std::align_val_t alignment{64};
    void* const datum_;
    const Reduction& how_;
    std::mutex mutex_;
    std::vector<void*> all_, unused_;
};

} // namespace trencadis
