#pragma once
#include "graph/executor.hpp"
#include "graph/task_flow.hpp"
#include "kernels/providers/provider.hpp"

namespace trencadis::testing {

/// Runs every task on the submitting thread as soon as it is ready, handing out its chunks `grain` at a time as if
/// that many cores shared it.
class InOrder final : public Executor {
public:
    explicit InOrder(const KernelProvider* kernels = nullptr, Index grain = Index{1} << 40)
        : unit_{.kernels = kernels}, grain_(grain)
    {
    }
    void ready(Task* chain) override
    {
        while (chain) {
            Task& task = *chain;
            chain = task.next;
            std::exception_ptr failure;
            if (task.flow->may_run(task)) failure = run(task);
            for (Task* released = task.flow->finish(task, failure); released;) {
                Task* const one = released;
                released = released->next;
                one->next = chain;
                chain = one;
            }
        }
    }
    void drain(TaskFlow&, std::int64_t) override {}
    void wake_owner(TaskFlow&) override {}
    std::span<const ComputeUnit> units() const override { return {&unit_, 1}; }

private:
    std::exception_ptr run(Task& task)
    {
        SharedWork work;
        Team team(work);
        try {
            work.reset(unit_.chunks(*task.codelet, task.args), grain_);
            TaskFlowContext context(task, team, 0);
            task.codelet->core(task.args, context);
            context.finish_children();
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }
    const ComputeUnit unit_;
    Index grain_;
};

} // namespace trencadis::testing
