#pragma once
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace trencadis::testing {

/// A described machine without threads, for tests of policies. Everything may be set; what is not set is a plain machine of equal
/// cores.
class DescribedView final : public View {
public:
    explicit DescribedView(int workers)
        : kinds(workers, 0), nodes(workers, 0), chunks(workers, 0), speeds(workers, 1), free(workers, 0)
    {
    }
    explicit DescribedView(std::vector<int> kinds_of_workers) : DescribedView(static_cast<int>(kinds_of_workers.size()))
    {
        kinds = std::move(kinds_of_workers);
    }

    int workers() const override { return static_cast<int>(kinds.size()); }
    int kind(WorkerId worker) const override { return kinds[worker]; }
    Seconds now() const override { return time += tick; }
    bool able(const Task& task, WorkerId worker) const override { return !can || can(task, kinds[worker]); }
    Seconds run_time(const Task& task, WorkerId worker) const override
    {
        return (task.flops > 0 ? task.flops : 1) / speeds[worker];
    }
    Seconds free_at(WorkerId worker) const override { return std::max(now(), free[worker]); }
    const TaskFlow* awaited(WorkerId worker) const override { return worker == waiting_worker ? awaited_flow : nullptr; }
    Index chunks_of(const Task& task, WorkerId) const override { return task.codelet->chunks ? malleable_chunks : 1; }
    Index chunks_left(WorkerId worker) const override { return chunks[worker]; }
    int node(WorkerId worker) const override { return nodes[worker]; }
    int memories() const override { return known_memories; }
    bool knows_transfers() const override { return transfers_known && known_memories > 1; }
    Seconds transfer_time(const Task& task, WorkerId worker) const override
    {
        return transfer ? transfer(task, nodes[worker]) : 0;
    }
    Bytes valid_bytes(const Task& task, WorkerId worker) const override { return valid ? valid(task, nodes[worker]) : 0; }
    bool holds_written(const Task& task, WorkerId worker) const override { return written && written(task, nodes[worker]); }

    std::vector<int> kinds, nodes;
    std::vector<Index> chunks;
    Index malleable_chunks = 4; ///< of every malleable task
    std::vector<double> speeds; ///< flops per second
    std::vector<Seconds> free;
    mutable Seconds time = 0;
    Seconds tick = 0;                    ///< that pass with each look at the clock
    WorkerId waiting_worker = no_worker; ///< for the tasks of awaited_flow
    const TaskFlow* awaited_flow = nullptr;
    int known_memories = 2;
    bool transfers_known = true;
    std::function<bool(const Task&, int kind)> can;
    std::function<Seconds(const Task&, int node)> transfer;
    std::function<Bytes(const Task&, int node)> valid;
    std::function<bool(const Task&, int node)> written;
};

/// Which of `tasks` the worker gets now; -1 for none.
inline int next_of(Scheduler& scheduler, WorkerId worker, const std::vector<Task>& tasks)
{
    const Task* task = scheduler.pop(worker).run;
    return task ? static_cast<int>(task - tasks.data()) : -1;
}

} // namespace trencadis::testing
