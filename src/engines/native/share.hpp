#pragma once
#include "graph/task.hpp"
#include "graph/team.hpp"
#include "scheduling/speed_estimates.hpp"
#include "threads/lock.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace trencadis {

/// One running operation that others may join. The memory is never returned while workers run, so that a late joiner may look
/// at it at any time; the state word says whether what it sees is still to be had.
///
/// Invariant: the task is finished by whoever takes the last member out, exactly once; the owner goes in first and closes
/// when it leaves, so nobody joins a finished task. Nobody waits for a member: a preempted one delays its own chunk only.
class Share {
public:
    bool unused() const { return state_.load(std::memory_order_acquire) == 0; }
    /// Owner: offers the task, with the owner as first member.
    void open(Task& task, Index chunks)
    {
        task_ = &task;
        priority_.store(task.priority.load(std::memory_order_relaxed), std::memory_order_relaxed);
        codelet_.store(task.codelet, std::memory_order_relaxed);
        node_.store(task.node, std::memory_order_relaxed);
        chunk_flops_.store(task.flops / double(chunks), std::memory_order_relaxed);
        work_.reset(chunks, 1);
        state_.store(is_open + in_use + member, std::memory_order_release); // publishes the above to those who join
    }
    bool try_join()
    {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        while (state & is_open)
            if (state_.compare_exchange_weak(state, state + member, std::memory_order_acquire, std::memory_order_relaxed))
                return true;
        return false;
    }
    /// True: the caller was the last one. It finishes the task and calls retire. Release: what this member wrote; acquire: what
    /// all wrote.
    bool leave(bool owner)
    {
        const std::uint32_t mine = owner ? member + is_open : member;
        return state_.fetch_sub(mine, std::memory_order_acq_rel) - mine == in_use;
    }
    void fail(std::exception_ptr failure)
    {
        std::lock_guard lock(lock_);
        if (!failure_) failure_ = std::move(failure);
    }
    /// The last one out: the object may be used again. Returns what fail was told.
    std::exception_ptr retire()
    {
        std::exception_ptr failure = std::exchange(failure_, nullptr);
        state_.store(0, std::memory_order_release);
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
        return codelet ? speeds.expect(worker, *codelet, chunk_flops_.load(std::memory_order_relaxed), now) : 0;
    }

private:
    static constexpr std::uint32_t is_open = 1, in_use = 2, member = 4;
    std::atomic<std::uint32_t> state_{0};
    Task* task_ = nullptr;
    // What those who think of joining ask; stale answers do no harm.
    std::atomic<double> priority_{0}, chunk_flops_{0};
    std::atomic<const Codelet*> codelet_{nullptr};
    std::atomic<int> node_{-1};
    SharedWork work_;
    Lock lock_;
    std::exception_ptr failure_;
};

} // namespace trencadis
