#include "graph/task_pool.hpp"

#include "graph/dependences.hpp"

#include <utility>

namespace trencadis {

void TaskPool::refill()
{
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    for (Task* task = free_; task; task = task->next) {
        AccessGroup* group = std::exchange(task->dead_groups, nullptr);
        while (group) {
            AccessGroup* next = group->next;
            group->next = groups_;
            groups_ = group;
            group = next;
        }
    }
    if (free_) return;
    const int size = blocks_.empty() ? 8 : 64;
    blocks_.push_back(std::make_unique<Task[]>(size));
    for (int i = size; i-- > 0;) {
        blocks_.back()[i].dead_groups = nullptr;
        blocks_.back()[i].next = free_;
        free_ = &blocks_.back()[i];
    }
}

Task& TaskPool::take()
{
    if (!free_) refill();
    Task* task = free_;
    free_ = task->next;
    return *task;
}

AccessGroup* TaskPool::collect_groups() { return std::exchange(groups_, nullptr); }

} // namespace trencadis
