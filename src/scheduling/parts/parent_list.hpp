#pragma once
#include "graph/task.hpp"
#include "scheduling/parts/ability.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

namespace trencadis {

/// A list of ready tasks in which what a task submits lies behind that task's own place, in the order of submission; what a task
/// releases goes to the end. The first one runs first. So the tasks inside an early task go before its later siblings.
///
/// A place is kept for the task that each worker took last on each depth, until that worker takes another of that depth or of a
/// lesser one. Our reading of libgomp's list as Lima et al. 2019 describe it. Push O(1), pop O(kept places) where every task can
/// run everywhere.
///
/// Who waits for its own tasks may take the last of them that became ready, as libgomp's taskwait does: a task enters the list of
/// its parent's children at the front (gomp_task_run_post_handle_dependers). O(1), amortised, where all tasks are of one flow.
class ParentList {
public:
    /// `newest`: pop may be asked for the newest task of a flow.
    ParentList(int workers, bool newest) : running_(workers), newest_(newest) {}

    void push(Task& task, KindSet able, WorkerId released_by)
    {
        insert(released_by == no_worker ? places_.end() : place_of_parent(task, released_by), task, able);
    }
    /// `awaited`: the flow whose newest task is wanted; none, or one without a task here: the first of all.
    Task* pop(KindSet kind, WorkerId worker, const TaskFlow* awaited = nullptr)
    {
        Place place = awaited ? newest_of(*awaited, kind) : places_.end();
        if (place == places_.end())
            place = std::find_if(places_.begin(), places_.end(), [&](const Entry& entry) { return entry.suits(kind); });
        if (place == places_.end()) return nullptr;
        Task* const task = std::exchange(place->task, nullptr);
        --size_;
        leave_mark(worker, task->depth, place);
        return task;
    }
    bool empty() const { return size_ == 0; }

private:
    struct Entry {
        Task* task; ///< none: the place of a task that was taken
        KindSet able;
        std::uint64_t pushed; ///< how many tasks were before it
        bool suits(KindSet kind) const { return task && (able & kind); }
    };
    using Place = std::list<Entry>::iterator; ///< lasts, since entries are used anew and not given back
    struct Arrival {
        Place place;
        std::uint64_t pushed; ///< what lies in the place now may be another task
    };
    struct Mark {
        std::uint16_t depth;
        Place place;
    };

    /// The worker's last task, if `task` lies inside it: children are deeper than their parent.
    Place place_of_parent(const Task& task, WorkerId worker)
    {
        const std::vector<Mark>& marks = running_[worker];
        return marks.empty() || marks.back().depth >= task.depth ? places_.end() : marks.back().place;
    }
    /// Those that were taken lie among the arrivals until they come last, or are as many as the others.
    Place newest_of(const TaskFlow& flow, KindSet kind)
    {
        const auto taken = [](const Arrival& arrival) { return !arrival.place->task || arrival.place->pushed != arrival.pushed; };
        while (!arrivals_.empty() && taken(arrivals_.back())) arrivals_.pop_back();
        if (arrivals_.size() > 2 * size_ + 64) std::erase_if(arrivals_, taken);
        const auto newest = std::find_if(arrivals_.rbegin(), arrivals_.rend(), [&](const Arrival& arrival) {
            return !taken(arrival) && arrival.place->suits(kind) && arrival.place->task->flow == &flow;
        });
        return newest == arrivals_.rend() ? places_.end() : newest->place;
    }
    /// Before the place: a parent's mark moves on, so that its children keep their order.
    void insert(Place before, Task& task, KindSet able)
    {
        const Entry entry{&task, able, pushed_++};
        if (spare_.empty()) spare_.push_back(entry);
        else spare_.front() = entry;
        const Place place = spare_.begin();
        if (newest_) arrivals_.push_back({place, entry.pushed});
        places_.splice(before, spare_, place);
        ++size_;
    }
    void leave_mark(WorkerId worker, std::uint16_t depth, Place place)
    {
        std::vector<Mark>& marks = running_[worker];
        while (!marks.empty() && marks.back().depth >= depth) {
            spare_.splice(spare_.begin(), places_, marks.back().place);
            marks.pop_back();
        }
        marks.push_back({depth, place});
    }

    std::list<Entry> places_, spare_;
    std::vector<std::vector<Mark>> running_; ///< per worker, ascending depth
    std::size_t size_ = 0;
    std::uint64_t pushed_ = 0;
    const bool newest_;
    std::vector<Arrival> arrivals_;
};

} // namespace trencadis
