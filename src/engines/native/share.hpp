#pragma once
#include "engines/native/membership.hpp"
#include "graph/task.hpp"
#include "graph/team.hpp"
#include "scheduling/speed_estimates.hpp"
#include "threads/lock.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace trencadis {

/// One running operation that others may join. The task is finished by whoever takes the last member out, exactly once.
class Share {
public:
    bool unused() const { return members_.unused(); }
    /// Owner: offers the task, with the owner as first member.
    void open(Task& task, Index chunks)
    {
        task_ = &task;
        priority_.store(task.priority.load(std::memory_order_relaxed), std::memory_order_relaxed);
        codelet_.store(task.codelet, std::memory_order_relaxed);
        node_.store(task.node, std::memory_order_relaxed);
        flops_.store(task.flops, std::memory_order_relaxed);
        work_.reset(chunks, 1);
        members_.open();
    }
    bool try_join() { return members_.try_join(); }
    /// True: the caller was the last one. It finishes the task and calls retire.
    bool leave(bool owner) { return members_.leave(owner); }
    void fail(std::exception_ptr failure)
    {
        std::lock_guard lock(lock_);
        if (!failure_) failure_ = std::move(failure);
    }
    /// The last one out: the object may be used again. Returns what fail was told.
    std::exception_ptr retire()
    {
        std::exception_ptr failure = std::exchange(failure_, nullptr);
        members_.retire();
        return failure;
    }

    // Members only.
    Task& task() { return *task_; }
    SharedWork& work() { return work_; }
    Index chunks_left() const { return work_.remaining(); } ///< anybody, as are the following
    double priority() const { return priority_.load(std::memory_order_relaxed); }
    int node() const { return node_.load(std::memory_order_relaxed); } ///< the task's
    /// Expected time of one chunk on a worker.
    Seconds chunk_time(const SpeedEstimates& speeds, WorkerId worker, Seconds now) const
    {
        const Codelet* codelet = codelet_.load(std::memory_order_relaxed);
        return codelet ? speeds.expect(worker, *codelet, flops_.load(std::memory_order_relaxed), now) / double(work_.count()) : 0;
    }

private:
    Membership members_;
    Task* task_ = nullptr;
    // What those who think of joining ask; stale answers do no harm.
    std::atomic<double> priority_{0}, flops_{0};
    std::atomic<const Codelet*> codelet_{nullptr};
    std::atomic<int> node_{-1};
    SharedWork work_;
    Lock lock_;
    std::exception_ptr failure_;
};

} // namespace trencadis
