#pragma once
#include "graph/task.hpp"
#include "scheduling/parts/ability.hpp"

#include <list>
#include <vector>

namespace trencadis {

/// A list of ready tasks in which what a task submits lies behind that task's own place, in the order of submission; what a task
/// releases goes to the end. The first one runs first. So the tasks inside an early task go before its later siblings.
///
/// A place is kept for the task that each worker took last on each depth, until that worker takes another of that depth or of a
/// lesser one. Our reading of libgomp's list as Lima et al. 2019 describe it. Push O(1), pop O(kept places) where every task can
/// run everywhere.
class ParentList {
public:
    explicit ParentList(int workers) : running_(workers) {}

    void push(Task& task, KindSet able, WorkerId released_by)
    {
        insert(released_by == no_worker ? places_.end() : place_of_parent(task, released_by), task, able);
    }
    Task* pop(KindSet kind, WorkerId worker)
    {
        for (Place place = places_.begin(); place != places_.end(); ++place) {
            if (!place->task || !(place->able & kind)) continue;
            Task* task = place->task;
            place->task = nullptr;
            --size_;
            leave_mark(worker, task->depth, place);
            return task;
        }
        return nullptr;
    }
    bool empty() const { return size_ == 0; }

private:
    struct Entry {
        Task* task; ///< none: the place of a task that was taken
        KindSet able;
    };
    using Place = std::list<Entry>::iterator;
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
    /// Before the place: a parent's mark moves on, so that its children keep their order.
    void insert(Place before, Task& task, KindSet able)
    {
        if (spare_.empty()) places_.insert(before, Entry{&task, able});
        else {
            spare_.front() = Entry{&task, able};
            places_.splice(before, spare_, spare_.begin());
        }
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
};

} // namespace trencadis
