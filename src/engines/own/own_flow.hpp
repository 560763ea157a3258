#pragma once
#include "engines/own/worker_books.hpp"
#include "graph/flow.hpp"
#include "graph/flow_options.hpp"
#include "graph/overlaps.hpp"
#include "graph/stored_task.hpp"
#include "graph/unit.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

namespace trencadis {

class OwnFlow;

/// A task of an OwnFlow.
class OwnTask final : public StoredTask {
public:
    template <class... Submitted>
    OwnTask(OwnFlow& flow, std::uint64_t order, const Submitted&... submitted)
        : StoredTask(submitted...), flow_(flow), order_(order)
    {
    }
    OwnFlow& flow() const { return flow_; }        ///< that it was submitted to
    std::uint64_t order() const { return order_; } ///< of its submission there, from 0

private:
    OwnFlow& flow_;
    const std::uint64_t order_;
};

/// A flow whose dependences somebody else's runtime finds: the books that such an engine has to keep itself. A submission is
/// checked and stored; the engine hands it to its runtime, which calls `run` once everything before it has finished, whether that
/// ran, failed or was cancelled, and `finish` after it. What failed is known by the data that it should have written: a task that
/// names one of them does not run, and spoils what it would have written in turn. Nobody keeps a list of successors for that, and
/// nothing is looked up before something has failed.
///
/// The engine's part is to order what `run` of two tasks does on one datum (AccessMode), and that a task sees what the ones
/// before it wrote: `run` itself has no barrier between tasks.
class OwnFlow : public Flow {
public:
    struct Home {
        const char* engine;                 ///< for messages: "engine 'toy'"
        std::span<const ComputeUnit> units; ///< one for each worker
        WorkerBooks& books;
        bool owners = false; ///< its flows are those of several processes: see check in own_flow.cpp
    };
    /// Throws Error{bad_argument} for a window below 1. `parent`: the flow of the task inside which it is made.
    OwnFlow(const Home& home, const FlowOptions& options, OwnFlow* parent = nullptr);

    /// Returns when all tasks have finished; throws what the earliest submitted one that failed has thrown, else Error{cancelled}
    /// where it was cancelled; raises the floating-point exceptions of its tasks, quietly. Everything is forgotten then.
    void wait() final;
    void cancel() final { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const final;
    const Flow* parent() const final { return parent_; }
    const FlowOptions& options() const { return options_; }
    const Home& home() const { return home_; }
    std::uint64_t submitted() const { return submitted_; } ///< tasks so far. Owner only

    // --- for engines, on whichever thread runs tasks ---------------------------------------------------------------------------
    /// Runs the task, unless the flow is cancelled or what the task needs is spoilt. What it throws is kept for `wait`.
    /// `operands`, `inner`: see StoredTask::run.
    void run(OwnTask& task, WorkerId worker, std::span<const Operand> operands, InnerFlows* inner = nullptr) noexcept;
    /// Of a datum in the process's memory.
    static Operand at_home(const Datum& datum) { return {const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols}; }
    /// The same with the data at home; a `reduce` access adds to the datum itself.
    void run_at_home(OwnTask& task, WorkerId worker, InnerFlows* inner = nullptr) noexcept;
    /// The task is over; destroys its arguments. The flow must still be there.
    void finish(std::unique_ptr<OwnTask> task) noexcept { use_ends(task->accesses()); }
    /// As if the task had thrown: for engines that could not bring its data, for example.
    void fail(const OwnTask& task, std::exception_ptr failure) noexcept;

protected:
    /// Gives the task to the runtime, on the submitting thread; may wait for others first. What it throws leaves
    /// `submit`, and the task is not there.
    virtual void hand_over(std::unique_ptr<OwnTask> task) = 0;
    /// Returns when every task handed over has finished; cancels the flow where the caller wishes to stop.
    virtual void await_all() = 0;

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) final;
    void check(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const char* label) const;
    void require_apart(std::span<const Access> accesses, const char* label);
    void use_ends(std::span<const Access> accesses) noexcept;
    bool may_run(const OwnTask& task) noexcept;
    void spoil(const OwnTask& task) noexcept;

    const Home home_;
    const FlowOptions options_;
    OwnFlow* const parent_;
    std::uint64_t submitted_ = 0; ///< the owner's

    std::atomic<bool> cancelled_{false};
    std::atomic<FloatModes::Raised> raised_{0};
    /// Something failed since the last wait. Relaxed: whoever must see it comes after the failure by a dependence, which orders
    /// the two; and the mutex orders the rest.
    std::atomic<bool> failed_{false};
    std::mutex mutex_; ///< over what follows
    std::exception_ptr failure_;
    std::uint64_t failure_order_ = 0;
    /// Data, and the first task that should have written each and did not: those before it, which may run later where the order
    /// is free, do not mind.
    std::unordered_map<const void*, std::uint64_t> spoilt_;
    bool all_spoilt_ = false; ///< there was no memory to say which

    /// Where overlapping data are refused: those in use, and by how many tasks.
    struct InUse {
        std::mutex mutex;
        Overlaps data;
        std::unordered_map<const void*, std::int64_t> tasks;
    };
    std::unique_ptr<InUse> in_use_;
};

} // namespace trencadis
