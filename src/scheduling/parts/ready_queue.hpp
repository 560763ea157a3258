#pragma once
#include "graph/task.hpp"
#include "scheduling/parts/ability.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace trencadis {

enum class ReadyOrder {
    oldest,  ///< first in, first out
    newest,  ///< last in, first out
    highest, ///< by the priority at the time of the push, among equals the oldest
};

/// Ready tasks in one place. In every order tasks inside tasks come first: priorities of different flows say nothing about each
/// other, and a task that waits for those inside it holds a stack, so a tree of tasks is finished branch by branch instead of
/// begun level by level.
///
/// Tasks that only some kinds of units can run lie in a lane per set of kinds, so that nobody scans. O(lanes + log ready) per call, O(lanes)
/// where all ranks are equal; one lane where every task can run everywhere.
class ReadyQueue {
public:
    explicit ReadyQueue(ReadyOrder order = ReadyOrder::highest) : order_(order) {}

    void push(Task& task, KindSet able);
    Task* pop(KindSet kind); ///< the first that this kind can run; null when there is none
    /// What pop would return.
    const Task* first(KindSet kind) const;
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

private:
    struct Ready {
        std::uint16_t depth;
        double priority;
        std::uint64_t place;
        Task* task;
        bool ranks_with(const Ready& other) const { return depth == other.depth && priority == other.priority; }
    };
    struct Lane {
        KindSet able;
        std::vector<Ready> heap;
        std::deque<Ready>
            run; ///< of equal rank, in order: where nobody gives priorities this is all there is, at a constant cost
    };
    bool before(const Ready& a, const Ready& b) const;
    const Ready& front_of_run(const Lane& lane) const
    {
        return order_ == ReadyOrder::newest ? lane.run.back() : lane.run.front();
    }
    bool run_first(const Lane& lane) const;
    const Ready& front(const Lane& lane) const { return run_first(lane) ? front_of_run(lane) : lane.heap.front(); }
    Lane& lane(KindSet able);
    int best_lane(KindSet kind) const;
    Task* take(Lane& lane);

    const ReadyOrder order_;
    std::vector<Lane> lanes_;
    std::uint64_t pushed_ = 0;
    std::size_t size_ = 0;
};

} // namespace trencadis
