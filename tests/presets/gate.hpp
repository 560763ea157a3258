#pragma once
#include <atomic>
#include <chrono>
#include <thread>

namespace pattern {

/// Keeps tasks from finishing while one thread creates them, until the first one is executed inside its own creation.
///
/// Tasks from number `closed_from` on wait at the gate; the creator goes on behind that one only when another thread has begun
/// it, so that nothing depends on how fast the threads are. The gate opens when a task runs inline, when all are created, or
/// after ten seconds: a runtime that waits for a task behind the gate then shows a wrong count instead of hanging.
class Gate {
public:
    explicit Gate(int closed_from) : closed_from_(closed_from) {}

    void before_creation(int number) { creating = number; }
    void after_creation(int number)
    {
        creating = -1;
        if (number == closed_from_ && first_inline_ < 0) wait_for(begun_);
    }
    void all_created() { open_ = true; }

    /// The body of a task.
    void pass(int number)
    {
        if (creating == number) {
            if (first_inline_ < 0) first_inline_ = number;
            open_ = true;
        }
        if (number < closed_from_) return;
        begun_ = true;
        wait_for(open_);
    }

    /// The number of the task that was the first to be executed by its creator inside its creation; -1: none was.
    int first_inline() const { return first_inline_; }

private:
    void wait_for(const std::atomic<bool>& flag) const
    {
        while (!flag && std::chrono::steady_clock::now() < deadline_) std::this_thread::yield();
    }

    static inline thread_local int creating = -1; ///< number of the task that this thread creates
    const int closed_from_;
    const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    std::atomic<bool> open_ = false, begun_ = false;
    int first_inline_ = -1; ///< written by the creator only
};

} // namespace pattern
