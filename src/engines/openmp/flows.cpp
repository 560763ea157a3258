#include "engines/openmp/flows.hpp"

#include "engines/openmp/holders.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trencadis::openmp {

OpenMpFlow::OpenMpFlow(OpenMpEngine& engine, const FlowOptions& options, OwnFlow* parent, Caller* caller, Unfinished* unfinished)
    : OwnFlow({engine.name(), engine.units(), engine.books()}, options, parent), engine_(engine), caller_(caller),
      dependences_(engine.calls().has_inoutset), unfinished_(unfinished),
      at_a_time_(std::clamp<std::int64_t>(options.window / 4, 1, 32)), tokens_(std::size_t(options.window / at_a_time_) + 2)
{
}

std::unique_ptr<Flow> OpenMpFlow::open_inner(Flow& own)
{
    return std::make_unique<RegionFlow>(engine_, options(), &static_cast<OpenMpFlow&>(own), caller_);
}

struct OpenMpFlow::Reducing {
    std::unique_ptr<OwnTask> task;
    std::vector<ReduceAccess> reductions;
};
struct OpenMpFlow::Folding {
    OpenMpFlow& flow;
    std::shared_ptr<Parts> parts;
};

void OpenMpFlow::submit_to_runtime(std::unique_ptr<OwnTask> task)
{
    void* const token = token_of(count_);
    dependences_.read(*task, token, [&](const Dependences::Between& between) { put_between(between, token); });
    const TrcOpenMpDependences lists = dependences_.lists();
    const int priority = engine_.priority(task->priority());
    std::vector<ReduceAccess> reductions = dependences_.take_reductions();
    ++count_;
    // From here on the task is the runtime's, which may run it within the call.
    if (reductions.empty()) return engine_.calls().submit(&lists, priority, run_task, task.release());
    engine_.calls().submit(&lists, priority, run_reducing, new Reducing{std::move(task), std::move(reductions)});
}

void OpenMpFlow::put_between(const Dependences::Between& between, void* token)
{
    void* address = between.address;
    const TrcOpenMpDependences after{&token, &address, nullptr, nullptr, token ? 1 : 0, 1, 0, 0};
    auto* const folding = new Folding{*this, between.folds};
    if (unfinished_) unfinished_->begin();
    engine_.calls().submit(&after, 0, run_between, folding);
}

void OpenMpFlow::end_groups()
{
    dependences_.end_groups([&](const Dependences::Between& between) { put_between(between, nullptr); });
}

void OpenMpFlow::await_oldest()
{
    engine_.calls().wait_for(token_of(waited_));
    waited_ += at_a_time_;
}

void OpenMpFlow::await_runtime()
{
    engine_.calls().wait();
    count_ = waited_ = 0;
}

void OpenMpFlow::run_between(void* folding)
{
    const std::unique_ptr<Folding> mine(static_cast<Folding*>(folding));
    if (mine->parts) mine->parts->combine();
    mine->flow.is_over();
}

void OpenMpFlow::run_task(void* task)
{
    std::unique_ptr<OwnTask> mine(static_cast<OwnTask*>(task));
    auto& flow = static_cast<OpenMpFlow&>(mine->flow());
    flow.carry_out(std::move(mine), {});
}

void OpenMpFlow::run_reducing(void* reducing)
{
    const std::unique_ptr<Reducing> mine(static_cast<Reducing*>(reducing));
    auto& flow = static_cast<OpenMpFlow&>(mine->task->flow());
    flow.carry_out(std::move(mine->task), mine->reductions);
}

void OpenMpFlow::carry_out(std::unique_ptr<OwnTask> task, std::span<const ReduceAccess> reductions) noexcept
{
    if (caller_) caller_->ask();
    if (reductions.empty()) run_at_home(*task, worker_here(), this);
    else run_with_parts(*task, reductions);
    finish(std::move(task));
    is_over(); // the flow may be gone now
}

void OpenMpFlow::run_with_parts(OwnTask& task, std::span<const ReduceAccess> reductions)
{
    std::vector<Operand> operands;
    std::size_t acquired = 0;
    try {
        for (const Access& access : task.accesses()) operands.push_back(at_home(access.datum));
        for (const ReduceAccess& one : reductions) {
            operands[one.access].data = one.parts->acquire();
            ++acquired;
        }
        run(task, worker_here(), operands, this);
    } catch (...) { // no memory
        fail(task, std::current_exception());
    }
    for (const ReduceAccess& one : reductions.first(acquired)) one.parts->give_back(operands[one.access].data);
}

// ---- RegionFlow ------------------------------------------------------------------------------------------------------------

RegionFlow::RegionFlow(OpenMpEngine& engine, const FlowOptions& options, OwnFlow* parent, Caller* caller)
    : OpenMpFlow(engine, options, parent, caller, nullptr)
{
}

void RegionFlow::hand_over(std::unique_ptr<OwnTask> task)
{
    if (caller_) caller_->ask();
    while (kept() >= options().window) {
        await_oldest();
        if (caller_) caller_->ask();
    }
    submit_to_runtime(std::move(task));
}

void RegionFlow::await_all()
{
    end_groups();
    if (caller_ && caller_->has_to_ask())
        while (has_oldest()) {
            await_oldest();
            caller_->ask();
        }
    await_runtime();
}

// ---- HeldFlow --------------------------------------------------------------------------------------------------------------

HeldFlow::HeldFlow(OpenMpEngine& engine, const FlowOptions& options) : OpenMpFlow(engine, options, nullptr, nullptr, &unfinished_)
{
    openmp::Holder::take(engine.kind()).begin([this] { hold(); });
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return holder_ != Holder::opening; });
    if (failure_) std::rethrow_exception(failure_);
}

HeldFlow::~HeldFlow()
{
    HeldFlow::await_all();
    Lock lock(mutex_);
    holder_ = Holder::leaving;
    changed_.notify_all();
    changed_.wait(lock, [this] { return holder_ == Holder::gone; });
}

/// The holder's. Where there is no region the flow's maker is told, or, later, the tasks that wait for one fail.
void HeldFlow::hold()
{
    Lock lock(mutex_);
    do {
        lock.unlock();
        std::exception_ptr failure;
        try {
            in_region(engine_, true, [this] { hand_on(); });
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure && holder_ == Holder::opening) {
            failure_ = failure;
            break;
        }
        if (failure) drop_queue(failure);
        changed_.wait(lock, [this] { return holder_ == Holder::leaving || !queue_.empty(); });
    } while (!queue_.empty());
    holder_ = Holder::gone;
    changed_.notify_all(); // under the mutex: the flow may be gone once that is free
}

void HeldFlow::drop_queue(const std::exception_ptr& failure)
{
    for (std::unique_ptr<OwnTask>& task : queue_) {
        if (task) {
            fail(*task, failure);
            finish(std::move(task));
        }
        unfinished_.end();
    }
    queue_.clear();
}

/// In a region, until nothing is left to do and nothing new comes for a while.
void HeldFlow::hand_on()
{
    constexpr auto a_while = std::chrono::milliseconds(2);
    Lock lock(mutex_);
    if (holder_ == Holder::opening) holder_ = Holder::here;
    changed_.notify_all();
    while (true) {
        if (queue_.empty() && unfinished_.count() > 0) wait_or_help(lock);
        else if (queue_.empty() && !changed_.wait_for(lock, a_while, [this] { return !queue_.empty(); })) break;
        if (queue_.empty()) continue;
        std::unique_ptr<OwnTask> task = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        if (task) submit_to_runtime(std::move(task));
        else {
            end_groups();
            unfinished_.end();
        }
        lock.lock();
    }
    lock.unlock();
    await_runtime();
}

/// The tasks are the workers'. With a passive wait policy libomp forgets some that sleep, though, when tasks come, and then
/// nobody would run them: where nothing has finished for long, the holder runs some itself.
void HeldFlow::wait_or_help(Lock& lock)
{
    constexpr auto briefly = std::chrono::milliseconds(1);
    constexpr int long_ago = 50;
    std::int64_t left = unfinished_.count();
    for (int turn = 0; queue_.empty() && left > 0; ++turn) {
        changed_.wait_for(lock, briefly, [this] { return !queue_.empty(); });
        const std::int64_t before = std::exchange(left, unfinished_.count());
        if (left < before) turn = 0;
        if (turn < long_ago || !has_oldest() || !engine_.kind().entered_by_kmpc) continue;
        lock.unlock();
        await_oldest();
        lock.lock();
    }
}

void HeldFlow::push(std::unique_ptr<OwnTask> task)
{
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    unfinished_.begin();
    changed_.notify_all();
}

void HeldFlow::hand_over(std::unique_ptr<OwnTask> task)
{
    Interruption nobody;
    unfinished_.await(options().window - 1, nobody, [] {});
    push(std::move(task));
}

void HeldFlow::await_all()
{
    push(nullptr);
    Interruption nobody;
    unfinished_.await(0, nobody, [] {});
}

} // namespace trencadis::openmp
