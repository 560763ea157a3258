#include "engines/task_flow_engine.hpp"

#include <cassert>

namespace trencadis {
namespace {

/// The body of a run, as a task; bookkeeping, so it is neither busy time nor an event.
struct RunArgs {
    static constexpr bool at_home = true;
    const std::function<void(Flow&)>* body; ///< as the engine has it
    void run(TaskContext& context) { (*body)(context.flow()); }
};

constexpr Codelet run_codelet = [] {
    Codelet codelet = codelet_of<RunArgs>("run");
    codelet.counted = false;
    codelet.submits = true;
    return codelet;
}();

} // namespace

TaskFlowEngine::~TaskFlowEngine() { assert(kept_.empty()); }

std::unique_ptr<Flow> TaskFlowEngine::open_flow(const FlowOptions& options) { return std::make_unique<TaskFlow>(*this, options); }

/// Small flows are used again: most of what a small call costs beside its arithmetic is the memory of its flow.
std::unique_ptr<TaskFlow> TaskFlowEngine::take_flow(const FlowOptions& options)
{
    std::unique_ptr<TaskFlow> flow;
    {
        const std::lock_guard lock(mutex_);
        if (kept_.empty() || kept_.back()->options() != options) return std::make_unique<TaskFlow>(*this, options);
        flow = std::move(kept_.back());
        kept_.pop_back();
    }
    flow->reuse();
    return flow;
}

/// Of a run that has ended well.
void TaskFlowEngine::keep_flow(std::unique_ptr<TaskFlow> flow)
{
    constexpr std::size_t most = 4;
    const std::lock_guard lock(mutex_);
    if (flow->is_light() && kept_.size() < most) kept_.push_back(std::move(flow));
}

Index TaskFlowEngine::run(const RunOptions& options, const std::function<void(Flow&)>& body)
{
    struct Polling {
        TaskFlowEngine& engine;
        const std::function<bool()>* before; ///< of a run that this one is inside of, on the same thread
        ~Polling() { engine.poll_while_waiting(before); }
    };
    const bool asks = options.interrupted && *options.interrupted;
    const Polling polling{*this, poll_while_waiting(asks ? options.interrupted : nullptr)};
    const std::function<void(Flow&)> submission = [&](Flow& flow) { submit_to(flow, body); };
    std::unique_ptr<TaskFlow> flow = take_flow(options.flow);
    CallSharing* const sharing = call_sharing();
    const bool attended = sharing && sharing->attend(*flow, [&] {
        submission(*flow);
        flow->wait();
    });
    if (!attended) {
        flow->submit(run_codelet, RunArgs{&submission}, std::initializer_list<Access>{});
        flow->wait();
    }
    raise_quietly(flow->raised());
    const Index outcome = flow->outcome().value();
    keep_flow(std::move(flow));
    return outcome;
}

} // namespace trencadis
