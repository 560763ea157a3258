#include "scheduling/parts/earliest_finish.hpp"

#include "scheduling/parts/ready_queue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

namespace trencadis {
namespace {

class EarliestFinish final : public Scheduler {
public:
    EarliestFinish(const View& view, const SchedulerOptions& options)
        : view_(view), by_priority_(options.text("order") == "priority"),
          transfers_(options.flag("transfers") && view.knows_transfers()), join_(options.flag("join"))
    {
        for (WorkerId worker = 0; worker < view.workers(); ++worker)
            workers_.push_back({ReadyQueue(by_priority_ ? ReadyOrder::highest : ReadyOrder::oldest)});
    }

    void push(Task& task, WorkerId) override
    {
        if (by_priority_) arrived_.push_back({&task});
        else assign(task);
    }
    Decision pop(WorkerId worker) override
    {
        if (!arrived_.empty()) assign_arrived();
        Worker& self = workers_[worker];
        Task* task = self.queue.pop(everybody);
        if (!task) return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
        Given& given = given_[task];
        const Seconds cost = given.cost;
        given.to = worker;
        self.busy_until = std::max(view_.now(), self.busy_until) + cost;
        self.under_way += cost;
        ++self.running;
        return {task};
    }
    void finished(const Task& task, WorkerId, Seconds) override
    {
        const auto given = given_.find(&task);
        if (given == given_.end()) return;         // its submitter ran it at once, it was never given out
        Worker& self = workers_[given->second.to]; // another one may have finished it
        const Seconds cost = given->second.cost;
        given_.erase(given);
        if (self.running == 0) return;
        // From now on: copies that others had waited for, too, are not waited for again, and that must not add up.
        self.under_way = --self.running > 0 ? self.under_way - cost : 0;
        self.busy_until = self.running > 0 ? view_.now() + self.under_way : 0;
    }
    bool wants_finished() const override { return true; }
    bool asks_for_data() const override { return transfers_; }
    bool wakes_all() const override { return true; }

private:
    static constexpr KindSet everybody = ~KindSet{0}; ///< a worker's own queue holds what it is able to run
    struct Worker {
        ReadyQueue queue;
        Seconds busy_until = 0; ///< by our own estimate, for Views that do not know
        Seconds under_way = 0;  ///< likewise, of what runs
        int running = 0;
    };
    struct Arrived {
        Task* task;
        double priority = 0; ///< when it was sorted
    };

    Seconds cost(const Task& task, WorkerId worker) const
    {
        return view_.run_time(task, worker) + (transfers_ ? view_.transfer_time(task, worker) : 0);
    }
    /// Behind what it runs and what was given to it and comes before the task. `now` is read once per task, or the clock's
    /// progress from worker to worker would decide between equals.
    Seconds begin(WorkerId worker, Task& task, Seconds now) const
    {
        const Seconds told = view_.free_at(worker);
        const bool busy = std::isfinite(told) && told > view_.now();
        return std::max({now, busy ? told : now, workers_[worker].busy_until}) + workers_[worker].queue.cost_before(task);
    }
    std::size_t tasks_of(WorkerId worker) const { return workers_[worker].queue.size() + workers_[worker].running; }
    void assign(Task& task)
    {
        const Seconds now = view_.now();
        WorkerId best = no_worker;
        Seconds best_end = std::numeric_limits<Seconds>::infinity(), best_cost = 0;
        for (WorkerId worker = 0; worker < view_.workers(); ++worker) {
            if (!view_.able(task, worker)) continue;
            const Seconds own = cost(task, worker), end = begin(worker, task, now) + own;
            // Without estimates all ends are equal: then the one with the fewest tasks.
            const bool sooner = end < best_end || (end == best_end && best != no_worker && tasks_of(worker) < tasks_of(best));
            if (best != no_worker && !sooner) continue;
            best = worker;
            best_end = end;
            best_cost = own;
        }
        if (best == no_worker) best = 0; // nobody is able: the engine has refused such a task before
        workers_[best].queue.push(task, everybody, best_cost);
        given_[&task] = {best_cost, best};
    }
    /// Those that became ready since somebody looked last, the longest path first.
    void assign_arrived()
    {
        // Read once: a path that grows as more is submitted must not change an order that is being made.
        for (Arrived& arrived : arrived_) arrived.priority = arrived.task->priority.load(std::memory_order_relaxed);
        std::stable_sort(arrived_.begin(), arrived_.end(), [](const Arrived& a, const Arrived& b) {
            if (a.task->depth != b.task->depth) return a.task->depth > b.task->depth;
            return a.priority > b.priority;
        });
        for (const Arrived& arrived : arrived_) assign(*arrived.task);
        arrived_.clear();
    }

    const View& view_;
    std::vector<Worker> workers_;
    std::vector<Arrived> arrived_;
    struct Given {
        Seconds cost;
        WorkerId to;
    };
    std::unordered_map<const Task*, Given> given_; ///< the tasks that are ready or run
    const bool by_priority_, transfers_, join_;
};

} // namespace

std::unique_ptr<Scheduler> make_earliest_finish(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<EarliestFinish>(view, options);
}

} // namespace trencadis
