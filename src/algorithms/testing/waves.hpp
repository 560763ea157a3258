#pragma once
#include "graph/executor.hpp"
#include "graph/task_data.hpp"
#include "graph/task_flow.hpp"

#include <map>
#include <string>
#include <vector>

namespace trencadis::testing {

/// Runs nothing. As with one worker for every task and tasks of one unit of time: all that are ready go in one wave, what they
/// release in the next. The number of waves is the length of the longest path.
class Waves final : public Executor {
public:
    void ready(Task* chain) override
    {
        while (chain) {
            waiting_.push_back(chain);
            chain = chain->next;
        }
    }
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        while (flow.pending() > target) {
            ++waves;
            std::vector<Task*> wave;
            wave.swap(waiting_);
            for (Task* task : wave) {
                note(*task);
                ready(flow.finish(*task, nullptr));
            }
        }
    }
    void wake_owner(TaskFlow&) override {}
    bool computes() const override { return false; }

    Index waves = 0;
    std::map<std::string, Index> tasks; ///< by codelet
    std::map<std::string, Index> chunks;
    std::map<const void*, Bytes> data; ///< largest size each datum was named with
    Flops flops = 0;

    Index count() const
    {
        Index sum = 0;
        for (const auto& [name, of_kind] : tasks) sum += of_kind;
        return sum;
    }

private:
    void note(const Task& task)
    {
        ++tasks[task.codelet->name];
        flops += task.flops;
        if (task.codelet->chunks)
            chunks[task.codelet->name] = std::max(chunks[task.codelet->name], units().front().chunks(*task.codelet, task.args));
        for_each_datum(task, [&](const TaskDatum& datum) { data[datum.data] = std::max(data[datum.data], datum.bytes); });
    }
    std::vector<Task*> waiting_;
};

/// A flow whose submitter never has to wait.
inline constexpr FlowOptions whole_graph{.window = 1 << 22, .priorities = Priorities::given};

} // namespace trencadis::testing
