#pragma once
#include "engines/own/unfinished.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace trencadis {

/// Memory for values that other processes sent. Whoever submits waits when there is too much of it, as long as waiting helps: while
/// tasks are left that read values which are needed no further. It does not stop two processes for each other: they submit the
/// same flow, and the tasks of the one that is furthest behind depend on nothing that is not submitted yet.
class ReceivedBytes {
public:
    explicit ReceivedBytes(double most) : most_(most) {}

    /// One value; it has its bytes until nobody holds it.
    class Value {
    public:
        Value(ReceivedBytes& all, double bytes) : all_(all), bytes_(bytes) { all_.add(bytes_); }
        ~Value() { all_.take(bytes_, dropped_); }
        Value(const Value&) = delete;
        Value& operator=(const Value&) = delete;
        /// No task that is submitted from now on reads it. Once, by the submitter.
        void drop()
        {
            dropped_ = true;
            all_.drop(bytes_);
        }

    private:
        ReceivedBytes& all_;
        const double bytes_;
        bool dropped_ = false;
    };

    /// For one more of so many bytes; meanwhile `stop()` is called whenever the caller wishes to stop.
    template <class Stop> void await_room(double bytes, Interruption& interruption, Stop&& stop)
    {
        std::unique_lock lock(mutex_);
        const auto room = [&] { return held_ + bytes <= most_ || dropped_ == 0; };
        while (!changed_.wait_for(lock, std::chrono::nanoseconds(Interruption::interval_ns), room)) {
            lock.unlock();
            if (interruption.came()) stop();
            lock.lock();
        }
    }
    double largest() const ///< bytes at one time
    {
        const std::lock_guard lock(mutex_);
        return largest_;
    }

private:
    void add(double bytes)
    {
        const std::lock_guard lock(mutex_);
        held_ += bytes;
        largest_ = std::max(largest_, held_);
    }
    void drop(double bytes)
    {
        const std::lock_guard lock(mutex_);
        dropped_ += bytes;
    }
    void take(double bytes, bool dropped)
    {
        const std::lock_guard lock(mutex_);
        held_ -= bytes;
        if (dropped) dropped_ -= bytes;
        changed_.notify_all();
    }

    const double most_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    double held_ = 0, dropped_ = 0, largest_ = 0; // whole numbers, so they come back to 0
};

} // namespace trencadis
