#include "scheduling/parts/stealing.hpp"

#include "scheduling/parts/combining_deque.hpp"
#include "scheduling/parts/incoming.hpp"
#include "scheduling/parts/lock_free_deque.hpp"
#include "scheduling/parts/locked_deque.hpp"
#include "scheduling/parts/nodes.hpp"
#include "scheduling/parts/selective_tasks.hpp"

#include <limits>
#include <vector>

namespace trencadis {
namespace {

/// What others leave for the workers of a node, such as tasks from threads that are not workers (at the first node), is taken
/// whole by whoever is idle there first, and then lies in its deque, where thieves find it.
template <class Deque> class Stealing final : public Scheduler {
public:
    Stealing(const View& view, const SchedulerOptions& options)
        : view_(view), abilities_(view), nodes_(view), victims_(view, options), workers_(view.workers()),
          incoming_(nodes_.count()), bound_(options.count("bound")),
          affinity_(options.text("affinity") == "data" && nodes_.count() > 1), join_(options.flag("join"))
    {
    }

    void push(Task& task, WorkerId released_by) override
    {
        if (abilities_.mixed())
            if (const KindSet able = abilities_.of(task); !abilities_.everybody(able)) return selective_.push(task, able);
        const int here = released_by == no_worker ? 0 : nodes_.of(released_by);
        const int node = affinity_ ? nodes_.with_most_bytes(task, here) : here;
        if (released_by != no_worker && node == here) workers_[released_by].deque.push(&task);
        else incoming_[node].push(task);
    }
    Decision pop(WorkerId worker) override
    {
        Worker& self = workers_[worker];
        if (Task* task = self.deque.take()) return {task};
        const int node = nodes_.of(worker);
        if (const Decision batch = take_incoming(self, incoming_[node]); batch.run) return batch;
        if (Task* task = selective_.pop(abilities_.bit(worker))) return {task};
        if (Task* task = victims_.first(worker, [&](WorkerId victim) { return workers_[victim].deque.steal(self.thief); }))
            return {task};
        for (int step = 1; step < nodes_.count(); ++step)
            if (const Decision batch = take_incoming(self, incoming_[(node + step) % nodes_.count()]); batch.run) return batch;
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }
    bool bounded() const override { return bound_ > 0; }
    bool has_room(WorkerId worker) const override
    {
        return bound_ == 0 || worker == no_worker || workers_[worker].deque.size() < bound_;
    }
    bool wakes_all() const override { return abilities_.mixed(); }
    bool asks_for_data() const override { return affinity_; }

private:
    struct alignas(64) Worker {
        Deque deque;
        typename Deque::Thief thief;
    };
    /// The oldest task for the caller, the others onto its deque so that it runs them in the order they came. In between nobody
    /// sees them.
    static Decision take_incoming(Worker& self, Incoming& incoming)
    {
        Task* newest = incoming.take_all();
        int exposed = 0;
        for (; newest && newest->next; ++exposed) {
            Task* next = newest->next;
            self.deque.push(newest);
            newest = next;
        }
        return {newest, no_worker, exposed};
    }

    const View& view_;
    const Abilities abilities_;
    const Nodes nodes_;
    Victims victims_;
    std::vector<Worker> workers_;
    std::vector<Incoming> incoming_;
    SelectiveTasks selective_;
    const std::int64_t bound_;
    const bool affinity_, join_;
};

} // namespace

std::unique_ptr<Scheduler> make_ws(const View& view, const SchedulerOptions& options)
{
    if (options.text("deque") == "locked") return std::make_unique<Stealing<LockedDeque>>(view, options);
    return std::make_unique<Stealing<LockFreeDeque>>(view, options);
}

std::unique_ptr<Scheduler> make_the(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<Stealing<CombiningDeque>>(view, options);
}

} // namespace trencadis
