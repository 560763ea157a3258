#pragma once
#include "engines/native/worker.hpp"
#include "observe/clock.hpp"

#include <cstdint>

namespace trencadis {

/// Lets others see what a worker runs, and how long that should take.
class Busy {
public:
    Busy(Worker& worker, const Task& task, Seconds expected)
        : worker_(worker), since_(worker.runs_since_ns), expected_(worker.expected_ns)
    {
        // Of data whose home is a device that was lost no time is expected that a number of nanoseconds could be.
        const bool known = expected > 0 && expected * 1e9 < double(Worker::never) && task.codelet->counted;
        worker.expected_ns.store(known ? static_cast<std::int64_t>(expected * 1e9) : Worker::never, std::memory_order_relaxed);
        worker.runs_since_ns.store(known ? now_ns() : 1, std::memory_order_relaxed);
    }
    ~Busy()
    {
        worker_.runs_since_ns.store(since_, std::memory_order_relaxed);
        worker_.expected_ns.store(expected_, std::memory_order_relaxed);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    Worker& worker_;
    const std::int64_t since_, expected_; ///< of what was interrupted
};

} // namespace trencadis
