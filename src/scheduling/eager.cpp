#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {
namespace {

/// One central queue: tasks inside tasks first, then the highest priority, among equals the one pushed first. The priority is that
/// at the time of the push. O(log ready) per call.
///
/// The deepest first, because priorities of different flows say nothing about each other, and because a task that waits for
/// those inside it holds a stack: a tree of tasks is finished branch by branch instead of begun level by level.
class Eager final : public Scheduler {
public:
    explicit Eager(const View& view) : view_(view) {}

    void push(Task& task, WorkerId) override
    {
        heap_.push_back({task.depth, task.priority.load(std::memory_order_relaxed), pushed_++, &task});
        std::push_heap(heap_.begin(), heap_.end());
    }
    Decision pop(WorkerId worker) override
    {
        if (heap_.empty()) return {nullptr, most_chunks_left(view_, worker)};
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
        bool operator<(const Ready& other) const
        {
            if (depth != other.depth) return depth < other.depth;
            return priority != other.priority ? priority < other.priority : place > other.place;
        }
    };
    const View& view_;
    std::vector<Ready> heap_;
    std::uint64_t pushed_ = 0;
};

} // namespace

extern const SchedulerEntry scheduler_eager;
const SchedulerEntry scheduler_eager{
    {"eager", "one central queue, highest priority first", "StarPU's prio; list scheduling, Graham 1966"},
    false,
    [](const View& view) { return std::unique_ptr<Scheduler>(std::make_unique<Eager>(view)); },
};

} // namespace trencadis
