#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

/// What tasks may wait for besides other tasks. A task that waits leaves its core to others, where the engine has workers; a
/// thread outside sleeps. The sequential engine runs each task when it is submitted: what a task waits for must have happened by
/// then. In virtual time nothing of this is known.
namespace trencadis {

class Executor;

/// Somebody who waits, on its own stack; in the list of what it waits for.
class Sleeper {
public:
    /// Returns after `wake`, also one that came first.
    void sleep();
    /// Any thread, once. The sleeper may be gone when this returns.
    void wake();

    Sleeper* next = nullptr; ///< in a list, under the list's lock

    // --- for engines: Executor::leave_core and take_back
    /// The last word before the core is left. False: it was woken, stay.
    bool leave();
    void* place = nullptr; ///< where it goes on

private:
    static constexpr std::uint32_t awake = 0, away = 1, woken = 2;
    std::atomic<std::uint32_t> state_{awake};
    Executor* executor_ = nullptr; ///< whose core it left; written before leaving
};

/// Set stays set until reset.
class TaskEvent {
public:
    void set(); ///< all who wait go on; any thread
    void reset();
    void wait();
    bool is_set() const;

private:
    mutable std::mutex mutex_;
    bool set_ = false;
    Sleeper* waiting_ = nullptr;
};

/// A lock that may be held while a task waits, which a std::mutex may not: the core then runs another task, and a task that
/// blocks the core cannot be the one that unlocks. Handed over in the order of asking; unlocked by any thread. Not recursive.
class TaskMutex {
public:
    void lock();
    bool try_lock();
    void unlock();

private:
    std::mutex mutex_;
    bool held_ = false;
    Sleeper *first_ = nullptr, **end_ = &first_;
};

} // namespace trencadis
