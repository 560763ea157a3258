#pragma once
#include "graph/task.hpp"
#include "scheduling/parts/ability.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace trencadis {

/// A deque for policies whose calls are serialised: pushed at the young end, taken at either. A lane per set of kinds, as in
/// ReadyQueue, so that a thief of another kind does not scan. O(lanes) per call.
class TaskDeque {
public:
    void push(Task& task, KindSet able)
    {
        lane(able).tasks.push_back({pushed_++, &task});
        ++size_;
    }
    /// What this kind can run and was pushed last.
    Task* take_newest(KindSet kind)
    {
        Lane* best = nullptr;
        for (Lane& lane : lanes_)
            if ((lane.able & kind) && !lane.tasks.empty() && (!best || lane.tasks.back().place > best->tasks.back().place))
                best = &lane;
        if (!best) return nullptr;
        Task* task = best->tasks.back().task;
        best->tasks.pop_back();
        --size_;
        return task;
    }
    /// What this kind can run, and the kind `unless` cannot, and was pushed first.
    Task* take_oldest(KindSet kind, KindSet unless = 0)
    {
        Lane* best = nullptr;
        for (Lane& lane : lanes_) {
            if (!(lane.able & kind) || (lane.able & unless) || lane.tasks.empty()) continue;
            if (!best || lane.tasks.front().place < best->tasks.front().place) best = &lane;
        }
        if (!best) return nullptr;
        Task* task = best->tasks.front().task;
        best->tasks.pop_front();
        --size_;
        return task;
    }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

private:
    struct Place {
        std::uint64_t place;
        Task* task;
    };
    struct Lane {
        KindSet able;
        std::deque<Place> tasks;
    };
    Lane& lane(KindSet able)
    {
        for (Lane& lane : lanes_)
            if (lane.able == able) return lane;
        return lanes_.emplace_back(Lane{able, {}});
    }
    std::vector<Lane> lanes_;
    std::uint64_t pushed_ = 0;
    std::size_t size_ = 0;
};

} // namespace trencadis
