#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <deque>
#include <vector>

namespace trencadis {
namespace {

/// One central queue: tasks inside tasks first, then the highest priority, among equals the one pushed first. The priority is that
/// at the time of the push. O(log ready) per call, O(1) where all are equal.
///
/// The deepest first, because priorities of different flows say nothing about each other, and because a task that waits for
/// those inside it holds a stack: a tree of tasks is finished branch by branch instead of begun level by level.
class Eager final : public Scheduler {
public:
    Eager(const View& view, bool join) : view_(view), join_(join) {}

    void push(Task& task, WorkerId) override
    {
        const Ready ready{task.depth, task.priority.load(std::memory_order_relaxed), pushed_++, &task};
        if (run_.empty() || run_.back().ranks_with(ready)) run_.push_back(ready);
        else {
            heap_.push_back(ready);
            std::push_heap(heap_.begin(), heap_.end());
        }
    }
    Decision pop(WorkerId worker) override
    {
        if (!run_.empty() && (heap_.empty() || heap_.front() < run_.front())) {
            Task* task = run_.front().task;
            run_.pop_front();
            return {task, no_worker};
        }
        if (heap_.empty()) return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
        std::pop_heap(heap_.begin(), heap_.end());
        Task* task = heap_.back().task;
        heap_.pop_back();
        return {task, no_worker};
    }

private:
    struct Ready {
        std::uint16_t depth;
        double priority;
        std::uint64_t place;
        Task* task;
        bool ranks_with(const Ready& other) const { return depth == other.depth && priority == other.priority; }
        bool operator<(const Ready& other) const
        {
            if (depth != other.depth) return depth < other.depth;
            return priority != other.priority ? priority < other.priority : place > other.place;
        }
    };
    const View& view_;
    const bool join_;
    std::vector<Ready> heap_;
    std::deque<Ready> run_; ///< of equal rank, in order: where nobody gives priorities, this is all there is, at a constant cost
    std::uint64_t pushed_ = 0;
};

constexpr Parameter parameters[] = {join_parameter};

} // namespace

extern const SchedulerEntry scheduler_eager;
const SchedulerEntry scheduler_eager{
    {"eager", "one central queue, highest priority first", "StarPU's prio; list scheduling, Graham 1966"},
    false,
    [](const View& view, const SchedulerOptions& options) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Eager>(view, options.flag("join"));
    },
    parameters,
};

} // namespace trencadis
