#include "graph/waiting.hpp"

#include "graph/executor.hpp"

#include <utility>

namespace trencadis {

namespace {
thread_local Executor* executor_here = nullptr;
}

Executor* Executor::here() { return executor_here; }
void Executor::set_here(Executor* executor) { executor_here = executor; }

void Sleeper::sleep()
{
    executor_ = Executor::here();
    if (executor_ && executor_->leave_core(*this)) return;
    while (state_.load(std::memory_order_acquire) != woken) state_.wait(awake, std::memory_order_acquire);
}

bool Sleeper::leave()
{
    std::uint32_t expected = awake;
    // Release: `place` and `executor_`. Acquire: what was done before the wake that came first.
    return state_.compare_exchange_strong(expected, away, std::memory_order_acq_rel, std::memory_order_acquire);
}

void Sleeper::wake()
{
    // One who is away stays until it is taken back; any other may be gone after the exchange, and only its address is named then.
    if (state_.exchange(woken, std::memory_order_acq_rel) == away) executor_->take_back(*this);
    else state_.notify_one();
}

void TaskEvent::set()
{
    Sleeper* sleeper = nullptr;
    {
        std::lock_guard lock(mutex_);
        set_ = true;
        sleeper = std::exchange(waiting_, nullptr);
    }
    while (sleeper) std::exchange(sleeper, sleeper->next)->wake();
}

void TaskEvent::reset()
{
    std::lock_guard lock(mutex_);
    set_ = false;
}

bool TaskEvent::is_set() const
{
    std::lock_guard lock(mutex_);
    return set_;
}

void TaskEvent::wait()
{
    Sleeper me;
    {
        std::lock_guard lock(mutex_);
        if (set_) return;
        me.next = std::exchange(waiting_, &me);
    }
    me.sleep();
}

void TaskMutex::lock()
{
    Sleeper me;
    {
        std::lock_guard lock(mutex_);
        if (!std::exchange(held_, true)) return;
        *end_ = &me;
        end_ = &me.next;
    }
    me.sleep(); // woken, it holds the lock
}

bool TaskMutex::try_lock()
{
    std::lock_guard lock(mutex_);
    return !std::exchange(held_, true);
}

void TaskMutex::unlock()
{
    Sleeper* sleeper = nullptr;
    {
        std::lock_guard lock(mutex_);
        sleeper = first_;
        if (!sleeper) {
            held_ = false;
            return;
        }
        first_ = sleeper->next;
        if (!first_) end_ = &first_;
    }
    sleeper->wake();
}

} // namespace trencadis
