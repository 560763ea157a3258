#pragma once
#include "engines/engine.hpp"
#include "graph/stored_task.hpp"
#include "observe/recorder.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace trencadis {

/// What each worker did, for engines whose threads are a runtime's: several of its threads may be one worker at a time, in runs
/// of several callers.
class WorkerBooks {
public:
    explicit WorkerBooks(std::span<const WorkerPlace> places);

    std::vector<WorkerTime> times() const;
    Recorder& recorder() { return recorder_; }

private:
    friend class RunningTask;
    struct alignas(64) Page {
        std::atomic<std::int64_t> busy_ns{0}, tasks{0};
        std::mutex recording; ///< the recorder wants one thread at a time
    };
    const std::unique_ptr<Page[]> pages_;
    const std::size_t workers_;
    Recorder recorder_;
};

/// While it lives, the time of the calling thread is the task's, and that of the one around it, which waits for tasks inside it
/// on this thread, is not: no time counts twice.
class RunningTask {
public:
    RunningTask(WorkerBooks& books, WorkerId worker, const StoredTask& task, std::uint64_t order);
    ~RunningTask();
    RunningTask(const RunningTask&) = delete;
    RunningTask& operator=(const RunningTask&) = delete;

private:
    void note(std::int64_t end_ns) noexcept; ///< of the piece since begin_ns_
    WorkerBooks& books_;
    const WorkerId worker_;
    const StoredTask& task_;
    const std::uint64_t order_;
    RunningTask* const outer_; ///< on this thread
    std::int64_t begin_ns_;
    bool continued_ = false;
};

} // namespace trencadis
