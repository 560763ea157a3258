#include "base/lasting.hpp"

#include <new>
#include <pthread.h>
#include <vector>

namespace trencadis {
namespace {

constinit std::recursive_mutex first_uses_lock;
constinit std::atomic<ProcessLock*> all_locks{nullptr};
constinit std::atomic<int> forks{0};

} // namespace

ProcessLock::ProcessLock() : next_(all_locks.load(std::memory_order_relaxed))
{
    all_locks.store(this, std::memory_order_release);
}

std::recursive_mutex& first_uses() { return first_uses_lock; }
void keep_for_good(const void* object)
{
    static constinit Lasting<std::vector<const void*>> kept;
    const std::lock_guard lock(first_uses());
    kept.get().push_back(object);
}

int forks_so_far() { return forks.load(std::memory_order_relaxed); }

struct AtFork {
    AtFork() { pthread_atfork(&AtFork::before, &AtFork::in_parent, &AtFork::in_child); }

    template <class Do> static void each_lock(Do&& act)
    {
        for (ProcessLock* lock = all_locks.load(std::memory_order_acquire); lock; lock = lock->next_) act(lock->mutex_);
    }
    static void before()
    {
        first_uses_lock.lock();
        each_lock([](std::recursive_mutex& mutex) { mutex.lock(); });
    }
    static void in_parent()
    {
        each_lock([](std::recursive_mutex& mutex) { mutex.unlock(); });
        first_uses_lock.unlock();
    }
    /// A recursive lock knows its holder by the thread's number, which is another one here: it is made anew, not unlocked.
    static void in_child()
    {
        each_lock([](std::recursive_mutex& mutex) { new (&mutex) std::recursive_mutex; });
        new (&first_uses_lock) std::recursive_mutex;
        forks.fetch_add(1, std::memory_order_relaxed);
    }
};

namespace {
const AtFork at_fork; ///< the library is never unloaded, so the handlers stay
}

} // namespace trencadis
