#pragma once
#include "engines/engine.hpp"
#include "graph/executor.hpp"
#include "graph/task_flow.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace trencadis {

/// An engine whose flows find dependences as we do: it carries out what is ready. A run is one task, which submits the others;
/// where the caller can have the place of a worker, it submits them itself.
class TaskFlowEngine : public Engine, public Executor {
public:
    ~TaskFlowEngine() override;
    Index run(const RunOptions& options, const std::function<void(Flow&)>& body) final;
    std::unique_ptr<Flow> open_flow(const FlowOptions& options) final;
    Executor* executor() final { return this; }

    // Asked of both faces.
    int workers() const override = 0;
    std::span<const ComputeUnit> units() const override = 0;
    bool binds(int /*node*/) const override { return false; }

protected:
    /// Calls the body of a run; for engines that look at what it submits before the flow does.
    virtual void submit_to(Flow& flow, const std::function<void(Flow&)>& body) { body(flow); }
    /// While `poll` is set, the calling thread asks it about every 50 ms when it waits for a flow of its own, and cancels the
    /// flow when it answers true. Returns what was set before.
    virtual const std::function<bool()>* poll_while_waiting(const std::function<bool()>* poll) = 0;
    /// Kept flows end with the executor that they were made for: each engine's destructor begins with this.
    void end_kept_flows() { kept_.clear(); }

private:
    std::unique_ptr<TaskFlow> take_flow(const FlowOptions& options);
    void keep_flow(std::unique_ptr<TaskFlow> flow);

    std::mutex mutex_;
    std::vector<std::unique_ptr<TaskFlow>> kept_; ///< of runs that are over, for the next ones; under the mutex
};

} // namespace trencadis
