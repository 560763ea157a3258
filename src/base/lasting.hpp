#pragma once
#include <atomic>
#include <mutex>

/// State of the process. The library is a guest there: its state lasts as long as the process, because programs call it from
/// atexit handlers and destructors of static objects, and other threads run on while those do; and a fork leaves it usable in
/// the child, whatever the threads that the child does not have were doing.
namespace trencadis {

/// A lock of the process's state. A thread that forks holds all of them while it does, so that the child finds what they guard
/// whole and none of them held. May be taken again by who holds it: a program may fork in a signal handler. Lives for ever.
class ProcessLock {
public:
    ProcessLock(); ///< with first_uses() held, or before there are threads
    ProcessLock(const ProcessLock&) = delete;
    ProcessLock& operator=(const ProcessLock&) = delete;
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    friend struct AtFork;
    std::recursive_mutex mutex_;
    ProcessLock* next_; ///< of all
};

/// Held while anything is made that the process has once; comes before every other ProcessLock.
std::recursive_mutex& first_uses();

/// Keeps what cannot be destroyed, because it needs threads that a fork did not take along, where leak checkers see it.
void keep_for_good(const void* object);

/// How many forks lie between the start of the program and this process. What was made at a smaller count has no threads here.
int forks_so_far();

/// The process's only T: made when it is first asked for and never destroyed. Reading it is one load. Of static storage and
/// `constinit`, so that it is there before and after everything else.
template <class T> class Lasting {
public:
    /// `make` returns a T* for good; what it throws is thrown here, and the next caller tries again.
    template <class Make> T& get(Make&& make)
    {
        if (T* const made = made_.load(std::memory_order_acquire)) [[likely]]
            return *made;
        const std::lock_guard lock(first_uses());
        if (!made_.load(std::memory_order_relaxed)) made_.store(make(), std::memory_order_release);
        return *made_.load(std::memory_order_relaxed);
    }
    bool is_made() const { return made_.load(std::memory_order_acquire) != nullptr; }
    T& get()
    {
        return get([] { return new T; });
    }

private:
    std::atomic<T*> made_{nullptr};
};

} // namespace trencadis
