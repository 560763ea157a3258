#include "scheduling/deque.hpp"
#include "scheduling/scheduler.hpp"

#include <vector>

namespace trencadis {
namespace {

/// Work stealing: a worker runs what it released last, an idle one steals the oldest task of a random victim. Tasks from
/// threads that are not workers go to a stack that whoever is idle takes whole. Priorities are not used.
class WorkStealing final : public Scheduler {
public:
    WorkStealing(const View& view, bool join) : view_(view), join_(join), workers_(view.workers())
    {
        for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w].random = 0x9E3779B97F4A7C15ull * (w + 1);
    }

    void push(Task& task, WorkerId released_by) override
    {
        if (released_by != no_worker) {
            workers_[released_by].deque.push(&task);
            return;
        }
        Task* top = incoming_.load(std::memory_order_relaxed);
        do task.next = top;
        while (!incoming_.compare_exchange_weak(top, &task, std::memory_order_release, std::memory_order_relaxed));
    }
    Decision pop(WorkerId worker) override
    {
        Worker& self = workers_[worker];
        if (Task* task = self.deque.take()) return {task, no_worker};
        if (const Decision batch = take_incoming(self); batch.run) return batch;
        for (std::size_t attempt = 0; attempt < 2 * workers_.size(); ++attempt) {
            const std::size_t victim = next_random(self) % workers_.size();
            if (static_cast<WorkerId>(victim) == worker) continue;
            if (Task* task = workers_[victim].deque.steal()) return {task, no_worker};
        }
        // Random attempts may all miss; before the worker gives up it looks at everybody once.
        for (Worker& victim : workers_)
            if (&victim != &self)
                if (Task* task = victim.deque.steal()) return {task, no_worker};
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }

private:
    struct alignas(64) Worker {
        WorkDeque deque;
        std::uint64_t random;
    };

    /// The first task for the caller, the others onto its deque in the order they came. In between nobody sees them.
    Decision take_incoming(Worker& self)
    {
        if (!incoming_.load(std::memory_order_relaxed)) return {};
        Task* newest = incoming_.exchange(nullptr, std::memory_order_acquire);
        int exposed = 0;
        for (; newest && newest->next; ++exposed) {
            Task* next = newest->next;
            self.deque.push(newest);
            newest = next;
        }
        return {newest, no_worker, exposed};
    }
    static std::uint64_t next_random(Worker& self)
    {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        return self.random >> 11;
    }

    const View& view_;
    const bool join_;
    std::vector<Worker> workers_;
    alignas(64) std::atomic<Task*> incoming_{nullptr};
};

constexpr Parameter parameters[] = {join_parameter};

} // namespace

extern const SchedulerEntry scheduler_ws;
const SchedulerEntry scheduler_ws{
    {"ws", "work stealing, a lock-free deque per worker", "Blumofe, Leiserson 1999; Chase, Lev 2005"},
    true,
    [](const View& view, const SchedulerOptions& options) -> std::unique_ptr<Scheduler> {
        return std::make_unique<WorkStealing>(view, options.flag("join"));
    },
    parameters,
};

} // namespace trencadis
