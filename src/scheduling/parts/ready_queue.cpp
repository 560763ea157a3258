#include "scheduling/parts/ready_queue.hpp"

namespace trencadis {

ReadyQueue::Lane& ReadyQueue::lane(KindSet able)
{
    for (Lane& lane : lanes_)
        if (lane.able == able) return lane;
    return lanes_.emplace_back(Lane{able, {}});
}

RankedTasks::Ready ReadyQueue::rank_of(Task& task, Seconds cost) const
{
    const double priority = order_ == ReadyOrder::highest ? task.priority.load(std::memory_order_relaxed) : 0;
    return {task.depth, priority, order_ == ReadyOrder::newest ? ~pushed_ : pushed_, &task, cost};
}

Seconds ReadyQueue::cost_before(Task& task) const
{
    const RankedTasks::Ready rank = rank_of(task, 0);
    Seconds before = 0;
    for (const Lane& lane : lanes_) before += lane.tasks.cost_before(rank);
    return before;
}

void ReadyQueue::push(Task& task, KindSet able, Seconds cost)
{
    lane(able).tasks.push(rank_of(task, cost));
    ++pushed_;
    ++size_;
}

int ReadyQueue::best_lane(KindSet kind) const
{
    int best = -1;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const Lane& lane = lanes_[i];
        if (!(lane.able & kind) || lane.tasks.empty()) continue;
        if (best < 0 || lanes_[best].tasks.top() < lane.tasks.top()) best = static_cast<int>(i);
    }
    return best;
}

const Task* ReadyQueue::first(KindSet kind) const
{
    const int best = best_lane(kind);
    return best < 0 ? nullptr : lanes_[best].tasks.top().task;
}

Task* ReadyQueue::pop(KindSet kind)
{
    const int best = best_lane(kind);
    if (best < 0) return nullptr;
    --size_;
    return lanes_[best].tasks.take_top().task;
}

} // namespace trencadis
