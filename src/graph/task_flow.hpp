#pragma once
#include "base/float_modes.hpp"
#include "graph/dependences.hpp"
#include "graph/executor.hpp"
#include "graph/flow.hpp"
#include "graph/flow_options.hpp"
#include "graph/overlaps.hpp"
#include "graph/priority.hpp"
#include "graph/task.hpp"
#include "graph/task_context.hpp"
#include "graph/task_pool.hpp"

#include <atomic>
#include <concepts>
#include <deque>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace trencadis {

/// A flow of tasks: `submit` finds what each task depends on from its declared accesses, `wait` returns when all have
/// finished. One thread submits to a flow, its owner; tasks run on the engine's workers. A task may submit
/// to a flow of its own (TaskContext::flow), whose dependences are among its own tasks.
///
/// Errors: the exception of the earliest submitted task that threw is rethrown by `wait`; what depended on a failed
/// task is not run. Numerical events are values (`outcome`). Cost: docs/decisions/0019.
/// Literature: superscalar task flow (SMPSs, Perez, Badia, Labarta 2008; StarPU, Augonnet et al. 2011).
class TaskFlow final : public Flow {
public:
    explicit TaskFlow(Executor& executor, const FlowOptions& options = {}, TaskFlow* parent = nullptr);
    ~TaskFlow() override; ///< waits; an exception not yet rethrown is dropped
    TaskFlow(const TaskFlow&) = delete;
    TaskFlow& operator=(const TaskFlow&) = delete;

    void wait() override;
    /// Also the tasks of flows inside its own.
    void cancel() override { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const override;

    std::uint64_t submissions() const { return submitted_; } ///< tasks so far. Owner only
    /// Has every task that names it finished, as far as can be told? Owner only.
    bool is_at_rest(const void* data) { return !options_.traits.buckets && !at_steal() && !dependences_.in_use(data); }
    /// Tasks submitted and not finished. Owner only.
    std::int64_t pending() const { return (state_.load(std::memory_order_acquire) >> 1) + target_ - credit_; }
    TaskFlow* parent() const override { return parent_; }
    Executor& executor() const { return executor_; }
    const FlowOptions& options() const { return options_; }
    /// Tasks compute as the thread that made the flow did then, on whichever thread they run.
    FloatModes float_modes() const { return float_modes_; }
    /// Floating-point exceptions of its tasks and of those inside them, so far; each task's are there when the task has finished.
    FloatModes::Raised raised() const { return raised_.load(std::memory_order_relaxed); }

    /// After wait, for another caller: as if made anew, but for the memory it has. Is that worth keeping?
    void reuse()
    {
        float_modes_ = FloatModes::current();
        raised_.store(0, std::memory_order_relaxed);
        outcome().clear();
    }
    bool is_light() const { return dependences_.capacity() <= 256; }

    // --- for engines -----------------------------------------------------------------------------------------
    /// The task has run (or was doomed, or failed). Returns the chain of tasks this made ready. Any worker; the flow
    /// may be gone when this returns, if that was its last task.
    Task* finish(Task& task, std::exception_ptr failure);
    /// Values were lost, which is no task's failure: `wait` rethrows it unless a task failed, and what has not begun does not
    /// begin, for it might read them. By the owner, or while tasks are pending.
    void fail(std::exception_ptr failure)
    {
        note_failure(Task::finished, std::move(failure));
        lost_values_.store(true, std::memory_order_relaxed);
    }
    /// Has anything failed that `wait` will rethrow? Any thread, when the tasks have finished.
    bool has_failed() const
    {
        const std::lock_guard lock(rare_mutex_);
        return failure_ != nullptr;
    }
    bool may_run(const Task& task) const
    {
        return !task.doomed.load(std::memory_order_relaxed) && !lost_values_.load(std::memory_order_relaxed) && !cancelled();
    }
    /// The owner is about to suspend until pending() <= target. False: it is already so, do not suspend.
    bool begin_suspension(std::int64_t target, void* waiter);
    /// The owner goes on. True: nobody has called or will call wake_owner for this suspension; false: somebody has or will,
    /// and the owner must have seen that before it touches the flow's end.
    bool end_suspension(std::int64_t target);
    void* waiter() const { return waiter_; }
    /// Finds the dependences of the oldest tasks of the list, at most `count`, and returns those that are ready, as a chain; they
    /// have not been given to the executor. Any thread. `found`: how many were looked at; 0 when the list was empty.
    Task* discover(int count, int& found) noexcept;
    bool has_undiscovered() const { return undiscovered_count_.load(std::memory_order_acquire) > 0; }
    void note_raised(FloatModes::Raised raised)
    {
        for (TaskFlow* flow = this; flow; flow = flow->parent_)
            if (raised & ~flow->raised_.load(std::memory_order_relaxed))
                flow->raised_.fetch_or(raised, std::memory_order_relaxed);
    }
    /// The private part for a running task's `reduce` access; given back when the task finishes.
    void* part(Task& task, int access);

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override;
    Task& begin(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const TaskOptions& options);
    void commit(Task& task, std::span<const Access> accesses) noexcept;
    bool connect(Task& task, std::span<const Access> accesses, int held) noexcept;
    void run_inline(Task& task, std::span<const Access> accesses) noexcept;
    void postpone(Task& task, std::span<const Access> accesses) noexcept;
    bool throttled() const;
    bool at_steal() const { return options_.traits.discovery == Discovery::at_steal; }
    void derive_priority(Task& task, std::span<const Access> accesses) noexcept;
    void make_room(std::size_t accesses);
    void require_apart(std::span<const Access> accesses, const char* label);
    void free_blocks(Task& task);
    Task* admit(Task* chain);
    bool claim(Task& task);
    Task* give_up_claims(Task& task);
    void note_failure(std::uint64_t order, std::exception_ptr failure);
    void settle_credit();

    Executor& executor_;
    const FlowOptions options_;
    TaskFlow* const parent_;
    const std::uint16_t depth_;
    FloatModes float_modes_ = FloatModes::current();

    // Written by the owner only.
    TaskPool pool_{returned_};
    DependenceTable dependences_{options_.traits.buckets};
    std::int64_t throttle_ = 0; ///< pending tasks past which the submitter runs the next one itself; 0: never
    std::unique_ptr<BottomLevels> bottom_levels_;
    std::unique_ptr<Overlaps> overlaps_; ///< of the data in use and some others; none: not asked for
    std::uint64_t submitted_ = 0;
    std::int64_t credit_ = 0; ///< tasks counted in state_ ahead of their submission, to touch it less often
    std::int64_t target_ = 0; ///< while suspended; otherwise 0
    void* waiter_ = nullptr;  ///< read by the finisher that brings a suspended flow to its target

    /// Pending tasks * 2; while the owner is suspended, (pending tasks - target) * 2 + 1. One word says it all: a finisher learns
    /// from its own subtraction whether it must wake the owner, and otherwise touches the flow no more, which may be gone by
    /// then.
    static constexpr std::int64_t one_task = 2, suspended = 1;
    alignas(64) std::atomic<std::int64_t> state_{0};
    std::atomic<Task*> returned_{nullptr}; ///< finished tasks, for pool_; written right before state_, hence beside it
    std::atomic<bool> cancelled_{false}, lost_values_{false};
    std::atomic<std::int64_t> waiting_{0}; ///< tasks that others keep from running; counted where the throttle leaves them out
    std::atomic<FloatModes::Raised> raised_{0};
    mutable std::mutex rare_mutex_; ///< failures, commute claims, private parts
    std::exception_ptr failure_;
    std::uint64_t failure_order_ = 0;

    // Discovery at steal: what has no dependences yet. The lock also guards the dependence table and the bottom levels then.
    struct Postponed {
        Task* task;
        std::vector<Access> accesses;
    };
    std::mutex discovery_mutex_;
    std::deque<Postponed> undiscovered_;
    int undiscovered_accesses_ = 0;
    std::atomic<std::int64_t> undiscovered_count_{0};
};

} // namespace trencadis
