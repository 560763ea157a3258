#pragma once
#include "observe/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace trencadis {

/// Whether the caller of a run wishes to stop (RunOptions::interrupted), asked on the caller's thread about every 50 ms.
class Interruption {
public:
    /// None, or an empty one: never.
    explicit Interruption(const std::function<bool()>* ask = nullptr) : ask_(ask && *ask ? ask : nullptr) {}
    bool is_asked() const { return ask_ != nullptr; }
    /// Asks when it is time to; true: the caller wishes to stop.
    bool came()
    {
        if (!ask_) return false;
        const std::int64_t now = now_ns();
        if (now < next_ns_) return false;
        next_ns_ = now + interval_ns;
        return (*ask_)();
    }
    static constexpr std::int64_t interval_ns = 50'000'000;

private:
    const std::function<bool()>* ask_;
    std::int64_t next_ns_ = now_ns() + interval_ns;
};

/// Counts tasks that were handed over and have not finished, for who waits asleep until a runtime has called back.
class Unfinished {
public:
    void begin()
    {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    /// Any thread. The last action on the flow: who waits may destroy it, and this with it, once the mutex is free.
    void end()
    {
        const std::lock_guard lock(mutex_);
        if (--count_ <= awaited_) changed_.notify_all();
    }
    std::int64_t count() const ///< any thread
    {
        const std::lock_guard lock(mutex_);
        return count_;
    }
    /// Returns when at most so many are left; meanwhile `stop()` is called whenever the caller wishes to stop. One thread.
    template <class Stop> void await(std::int64_t most, Interruption& interruption, Stop&& stop)
    {
        std::unique_lock lock(mutex_);
        awaited_ = most;
        const auto few = [&] { return count_ <= most; };
        if (!interruption.is_asked()) changed_.wait(lock, few);
        else
            while (!changed_.wait_for(lock, std::chrono::nanoseconds(Interruption::interval_ns), few)) {
                lock.unlock(); // asking may take an interpreter's lock, which a task may hold
                if (interruption.came()) stop();
                lock.lock();
            }
        awaited_ = -1;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t count_ = 0, awaited_ = -1;
};

} // namespace trencadis
