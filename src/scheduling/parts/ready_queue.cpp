#include "scheduling/parts/ready_queue.hpp"

#include <algorithm>

namespace trencadis {

bool ReadyQueue::before(const Ready& a, const Ready& b) const
{
    if (a.depth != b.depth) return a.depth > b.depth;
    if (a.priority != b.priority) return a.priority > b.priority;
    return order_ == ReadyOrder::newest ? a.place > b.place : a.place < b.place;
}

bool ReadyQueue::run_first(const Lane& lane) const
{
    return !lane.run.empty() && (lane.heap.empty() || before(front_of_run(lane), lane.heap.front()));
}

ReadyQueue::Lane& ReadyQueue::lane(KindSet able)
{
    for (Lane& lane : lanes_)
        if (lane.able == able) return lane;
    return lanes_.emplace_back(Lane{able, {}, {}});
}

void ReadyQueue::push(Task& task, KindSet able)
{
    const double priority = order_ == ReadyOrder::highest ? task.priority.load(std::memory_order_relaxed) : 0;
    const Ready ready{task.depth, priority, pushed_++, &task};
    Lane& to = lane(able);
    if (to.run.empty() || to.run.back().ranks_with(ready)) to.run.push_back(ready);
    else {
        to.heap.push_back(ready);
        std::push_heap(to.heap.begin(), to.heap.end(), [this](const Ready& a, const Ready& b) { return before(b, a); });
    }
    ++size_;
}

int ReadyQueue::best_lane(KindSet kind) const
{
    int best = -1;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const Lane& lane = lanes_[i];
        if (!(lane.able & kind) || (lane.run.empty() && lane.heap.empty())) continue;
        if (best < 0 || before(front(lane), front(lanes_[best]))) best = static_cast<int>(i);
    }
    return best;
}

const Task* ReadyQueue::first(KindSet kind) const
{
    const int best = best_lane(kind);
    return best < 0 ? nullptr : front(lanes_[best]).task;
}

Task* ReadyQueue::pop(KindSet kind)
{
    const int best = best_lane(kind);
    return best < 0 ? nullptr : take(lanes_[best]);
}

Task* ReadyQueue::take(Lane& lane)
{
    --size_;
    Task* task = nullptr;
    if (run_first(lane)) {
        task = front_of_run(lane).task;
        if (order_ == ReadyOrder::newest) lane.run.pop_back();
        else lane.run.pop_front();
        return task;
    }
    std::pop_heap(lane.heap.begin(), lane.heap.end(), [this](const Ready& a, const Ready& b) { return before(b, a); });
    task = lane.heap.back().task;
    lane.heap.pop_back();
    return task;
}

} // namespace trencadis
