#pragma once
#include "engines/openmp/dependences.hpp"
#include "engines/openmp/engine.hpp"
#include "engines/own/own_flow.hpp"
#include "engines/own/unfinished.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

namespace trencadis::openmp {

/// Who called a run, and is asked on its own thread whether it wishes to stop.
struct Caller {
    explicit Caller(const std::function<bool()>* interrupted) : interruption(interrupted) {}
    /// While the run has its flow.
    struct Called {
        Called(Caller& caller, OwnFlow& flow) : of(caller) { of.set_flow(&flow); }
        ~Called() { of.set_flow(nullptr); }
        Called(const Called&) = delete;
        Called& operator=(const Called&) = delete;
        Caller& of;
    };

    /// The calling thread is the caller's and has to ask.
    bool has_to_ask() const { return interruption.is_asked() && pthread_equal(thread, pthread_self()); }
    void ask()
    {
        if (has_to_ask() && interruption.came()) stop();
    }
    void stop()
    {
        const std::lock_guard lock(mutex);
        stopped = true;
        if (flow) flow->cancel();
    }

    Interruption interruption;
    const pthread_t thread = pthread_self();

private:
    void set_flow(OwnFlow* of_run)
    {
        const std::lock_guard lock(mutex);
        flow = of_run;
        if (flow && stopped) flow->cancel();
    }
    std::mutex mutex; ///< over what follows
    OwnFlow* flow = nullptr;
    bool stopped = false;
};

/// What the flows of the engine have in common.
class OpenMpFlow : public OwnFlow, public InnerFlows {
public:
    std::unique_ptr<Flow> open_inner(Flow& own) final;

protected:
    OpenMpFlow(OpenMpEngine& engine, const FlowOptions& options, OwnFlow* parent, Caller* caller, Unfinished* unfinished);

    /// Makes a task of the runtime's, as one of the tasks inside the one that the calling thread runs.
    void submit_to_runtime(std::unique_ptr<OwnTask> task);
    void end_groups();
    /// Each so many tasks have a token in common, by which who submits can wait for the oldest of them, and run others meanwhile.
    bool has_oldest() const { return waited_ < count_; }
    std::int64_t kept() const { return count_ - waited_; } ///< tasks that may not have finished
    void await_oldest();
    void await_runtime(); ///< all of them

    OpenMpEngine& engine_;
    Caller* const caller_;

private:
    struct Reducing;
    struct Folding;
    static void run_task(void* task);
    static void run_reducing(void* reducing);
    static void run_between(void* folding);
    void carry_out(std::unique_ptr<OwnTask> task, std::span<const ReduceAccess> reductions) noexcept;
    void run_with_parts(OwnTask& task, std::span<const ReduceAccess> reductions);
    void put_between(const Dependences::Between& between, void* token);
    void is_over()
    {
        if (unfinished_) unfinished_->end();
    }

    char* token_of(std::int64_t task) { return &tokens_[std::size_t(task / at_a_time_) % tokens_.size()]; }

    Dependences dependences_;
    Unfinished* const unfinished_; ///< who waits asleep; none: who waits does so by the runtime
    const std::int64_t at_a_time_; ///< tasks that share a token
    std::vector<char> tokens_;
    std::int64_t count_ = 0;  ///< tasks since all were waited for
    std::int64_t waited_ = 0; ///< of them, that are known to have finished: a multiple of at_a_time_
};

/// A flow whose submitter is in a region, in which it takes part whenever it waits: of a run, or inside a task. Who has to be
/// asked whether it wishes to stop waits for the oldest tasks and then for others.
class RegionFlow final : public OpenMpFlow {
public:
    RegionFlow(OpenMpEngine& engine, const FlowOptions& options, OwnFlow* parent, Caller* caller);
    ~RegionFlow() override { RegionFlow::await_all(); }

private:
    void hand_over(std::unique_ptr<OwnTask> task) override;
    void await_all() override;
};

/// A flow whose submitter is no part of a region and comes and goes as it likes: a thread of ours opens one with the workers when
/// something is submitted, hands it on, and closes the region when nothing is left; otherwise it sleeps.
class HeldFlow final : public OpenMpFlow {
public:
    HeldFlow(OpenMpEngine& engine, const FlowOptions& options);
    ~HeldFlow() override;

private:
    using Lock = std::unique_lock<std::mutex>;
    void hand_over(std::unique_ptr<OwnTask> task) override;
    void await_all() override;
    void hold();
    void hand_on();
    void wait_or_help(Lock& lock);
    void drop_queue(const std::exception_ptr& failure); ///< under the mutex
    void push(std::unique_ptr<OwnTask> task);

    Unfinished unfinished_;
    std::mutex mutex_; ///< over what follows
    std::condition_variable changed_;
    std::deque<std::unique_ptr<OwnTask>> queue_; ///< null: all groups of accesses end
    enum class Holder { opening, here, leaving, gone } holder_ = Holder::opening;
    std::exception_ptr failure_; ///< of the first region
};

} // namespace trencadis::openmp
