#pragma once
#include "graph/task.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace trencadis {

/// Ready tasks by rank: tasks inside tasks first, then the highest priority, among equals the one that came first. The priority
/// is that at the time of the push. O(log ready) per call, O(1) where all are equal; taking from the other end is O(ready).
///
/// The deepest first, because priorities of different flows say nothing about each other, and because a task that waits for
/// those inside it holds a stack: a tree of tasks is finished branch by branch instead of begun level by level.
class RankedTasks {
public:
    struct Ready {
        std::uint16_t depth;
        double priority;
        std::uint64_t place; ///< among equals the smallest first
        Task* task;
        Seconds cost; ///< as given to push
        bool ranks_with(const Ready& other) const { return depth == other.depth && priority == other.priority; }
        bool operator<(const Ready& other) const
        {
            if (depth != other.depth) return depth < other.depth;
            return priority != other.priority ? priority < other.priority : place > other.place;
        }
    };

    bool empty() const { return run_.empty() && heap_.empty(); }
    std::size_t size() const { return run_.size() + heap_.size(); }
    Seconds cost() const { return empty() ? 0 : cost_; } ///< of all together
    /// Of those that are taken before this one, which need not be here. O(1) where all are, or none, else O(ready).
    Seconds cost_before(const Ready& ready) const
    {
        if (empty() || !(ready < top())) return 0;
        if (heap_.empty() && ready < run_.back()) return cost_;
        Seconds before = 0;
        for (const Ready& other : run_) before += ready < other ? other.cost : 0;
        for (const Ready& other : heap_) before += ready < other ? other.cost : 0;
        return before;
    }
    /// As the task would be pushed now, behind its equals.
    Ready rank_of(Task& task, Seconds cost = 0) const
    {
        return {task.depth, task.priority.load(std::memory_order_relaxed), pushed_, &task, cost};
    }

    void push(Task& task, Seconds cost = 0)
    {
        push(rank_of(task, cost));
        ++pushed_;
    }
    /// Where the caller numbers the places.
    void push(const Ready& ready)
    {
        const Seconds before = empty() ? 0 : cost_; // starts anew with an empty list, so that rounding does not pile up
        if (run_.empty() || (run_.back().ranks_with(ready) && run_.back().place < ready.place)) run_.push_back(ready);
        else if (run_.front().ranks_with(ready) && ready.place < run_.front().place) run_.push_front(ready);
        else {
            heap_.push_back(ready);
            std::push_heap(heap_.begin(), heap_.end());
        }
        cost_ = before + ready.cost;
    }
    const Ready& top() const { return run_is_first() ? run_.front() : heap_.front(); }
    Ready take_top()
    {
        const Ready ready = top();
        if (run_is_first()) run_.pop_front();
        else {
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
        }
        cost_ -= ready.cost;
        return ready;
    }
    /// The lowest or the highest ranked task for which `suits(ready)`; null when there is none.
    template <class Suits> const Ready* lowest(Suits&& suits) const
    {
        return pick(suits, [](const Ready& a, const Ready& b) { return a < b; });
    }
    template <class Suits> const Ready* highest(Suits&& suits) const
    {
        return pick(suits, [](const Ready& a, const Ready& b) { return b < a; });
    }
    /// Takes one that lowest or highest has shown.
    Ready take(const Ready& which)
    {
        const Ready ready = which;
        const auto same = [&](const Ready& other) { return other.place == ready.place; };
        if (const auto in_run = std::find_if(run_.begin(), run_.end(), same); in_run != run_.end()) run_.erase(in_run);
        else {
            heap_.erase(std::find_if(heap_.begin(), heap_.end(), same));
            std::make_heap(heap_.begin(), heap_.end());
        }
        cost_ -= ready.cost;
        return ready;
    }

private:
    bool run_is_first() const { return !run_.empty() && (heap_.empty() || heap_.front() < run_.front()); }
    template <class Suits, class Before> const Ready* pick(Suits& suits, Before before) const
    {
        const Ready* best = nullptr;
        const auto consider = [&](const Ready& ready) {
            if ((!best || before(ready, *best)) && suits(ready)) best = &ready;
        };
        for (const Ready& ready : run_) consider(ready);
        for (const Ready& ready : heap_) consider(ready);
        return best;
    }

    std::vector<Ready> heap_;
    std::deque<Ready> run_; ///< of equal rank, in order: where nobody gives priorities, this is all there is, at a constant cost
    std::uint64_t pushed_ = 0;
    Seconds cost_ = 0;
};

} // namespace trencadis
