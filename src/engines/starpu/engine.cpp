#include "engines/starpu/engine.hpp"

#include "base/error.hpp"
#include "graph/immediate_flow.hpp"

namespace trencadis {
namespace {

StarpuSettings settings_of(const EngineParts& parts, bool messages)
{
    StarpuSettings settings;
    for (const WorkerPlace& place : parts.workers) {
        settings.cores.push_back(place.core());
        settings.one_kind = settings.one_kind && place.kind == parts.workers.front().kind;
    }
    settings.policy = parts.policy.empty() ? StarpuTenancy::policies().front() : parts.policy;
    settings.flops_per_second = parts.nominal_flops_per_second;
    settings.folder = parts.models;
    settings.messages = messages;
    return settings;
}

} // namespace

StarpuEngine::StarpuEngine(const EngineParts& parts, const char* name, const StarpuGroup* group)
    : units_(parts.workers.size(), ComputeUnit{.kernels = parts.kernels}), books_(parts.workers), home_{name, units_, books_},
      tenancy_(settings_of(parts, group != nullptr), group)
{
}

Index StarpuEngine::run(const RunOptions& options, const std::function<void(Flow&)>& body)
{
    if (StarpuFlow::inside_task()) return run_here(body);
    StarpuFlow flow(tenancy_, home_, options);
    body(flow);
    flow.wait();
    return flow.outcome().value();
}

std::unique_ptr<Flow> StarpuEngine::open_flow(const FlowOptions& options)
{
    if (StarpuFlow::inside_task())
        throw Error(ErrorCode::bad_argument, std::string("a task of ") + home_.engine +
                                                 " cannot open a flow of that engine, whose "
                                                 "worker it would keep while it waits; submit to the flow of the task");
    return std::make_unique<StarpuFlow>(tenancy_, home_, RunOptions{options});
}

std::string StarpuEngine::runtime() const
{
    const StarpuCaps caps = StarpuTenancy::caps();
    return "StarPU " + caps.version + ", built for at most " + std::to_string(caps.workers) + " workers on cores, " +
           std::to_string(caps.buffers) + " data of a task without a list of its own, " + std::to_string(caps.memories) +
           " memory nodes";
}

Index StarpuEngine::run_here(const std::function<void(Flow&)>& body)
{
    ImmediateFlow flow(units_.front().kernels);
    body(flow);
    if (flow.cancelled()) throw Error(ErrorCode::cancelled, "the flow was cancelled");
    return flow.outcome().value();
}

} // namespace trencadis
