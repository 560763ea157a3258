#pragma once
#include "threads/lock.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace trencadis {

/// Who may hold a worker next: those whose wait is over and who want it back, and spare ones. The worker's holder takes from it,
/// anybody may ask a worker back. Guests have the place of a spare one: they come back only when the holder has nothing of its
/// own to go on with, and who makes way for one is not spare.
template <class Holder> class Succession {
public:
    /// Acquire: what was done before somebody asked it back.
    bool wanted() const { return wanted_.load(std::memory_order_acquire); }
    /// The holder may go on. `tell` lets the worker know; as soon as the lock is free the holder may go on and the engine may go
    /// away, so releasing the lock is the last access.
    template <class Tell> void ask_back(Holder& holder, Tell&& tell)
    {
        std::lock_guard lock(lock_);
        resumable_.push_back(&holder);
        wanted_.store(true, std::memory_order_release);
        tell();
    }

    // The holder.
    /// One that wants the worker back, where that will do, else a spare one; null: there is none.
    Holder* take(bool resume)
    {
        std::lock_guard lock(lock_);
        return take_from(resume && !resumable_.empty() && !resumable_.back()->guest ? resumable_ : spare_);
    }
    /// One that was taken and is not needed.
    void put_back(Holder& holder)
    {
        std::lock_guard lock(lock_);
        (holder.waits ? resumable_ : spare_).push_back(&holder);
        wanted_.store(!resumable_.empty(), std::memory_order_relaxed);
    }
    /// `self` gives the worker back to one that wants it.
    Holder& give_back(Holder& self)
    {
        std::lock_guard lock(lock_);
        Holder* const next = take_from(resumable_);
        if (!next->guest) spare_.push_back(&self);
        return *next;
    }

    /// There are no holders any more.
    void clear()
    {
        std::lock_guard lock(lock_);
        resumable_.clear();
        spare_.clear();
    }

private:
    Holder* take_from(std::vector<Holder*>& from)
    {
        if (from.empty()) return nullptr;
        Holder* const holder = from.back();
        from.pop_back();
        wanted_.store(!resumable_.empty(), std::memory_order_relaxed);
        return holder;
    }

    Lock lock_;
    std::vector<Holder*> resumable_, spare_;
    std::atomic<bool> wanted_{false};
};

} // namespace trencadis
