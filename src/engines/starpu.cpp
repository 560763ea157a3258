#include "base/error.hpp"
#include "engines/starpu/flow.hpp"
#include "graph/immediate_flow.hpp"

#include <algorithm>
#include <string>

namespace trencadis {
namespace {

/// Tasks go to StarPU as they are submitted: it finds their dependences, schedules them, and runs them on workers of its own on
/// the cores of ours. Workers sleep while no flow is open.
class Starpu final : public Engine {
public:
    static constexpr Capabilities abilities{.parallel = true,
                                            .schedules_itself = true,
                                            .priorities = true,
                                            .commute = true,
                                            .concurrent_write = true,
                                            .reduction = true,
                                            .nesting = true,
                                            .cancellation = true};

    explicit Starpu(const EngineParts& parts)
        : units_(parts.workers.size(), ComputeUnit{.kernels = parts.kernels}), books_(parts.workers),
          tenancy_(settings_of(parts), &StarpuFlow::run_task)
    {
    }

    /// Inside one of its tasks StarPU's worker carries the call out alone, in order: to wait for the others would take the
    /// worker away that they may need.
    Index run(const RunOptions& options, const std::function<void(Flow&)>& body) override
    {
        if (StarpuFlow::inside_task()) return run_here(body);
        StarpuFlow flow(tenancy_, home_, options);
        body(flow);
        flow.wait();
        return flow.outcome().value();
    }
    std::unique_ptr<Flow> open_flow(const FlowOptions& options) override
    {
        if (StarpuFlow::inside_task())
            throw Error(ErrorCode::bad_argument, "a task of engine 'starpu' cannot open a flow of that engine, whose worker it "
                                                 "would keep while it waits; submit to the flow of the task");
        return std::make_unique<StarpuFlow>(tenancy_, home_, RunOptions{options});
    }
    std::span<const ComputeUnit> units() const override { return units_; }
    std::vector<WorkerTime> times() const override { return books_.times(); }
    Recorder& recorder() override { return books_.recorder(); }
    const Capabilities& capabilities() const override { return abilities; }
    std::string runtime() const override
    {
        const StarpuCaps caps = StarpuTenancy::caps();
        return "StarPU " + caps.version + ", built for at most " + std::to_string(caps.workers) + " workers on cores, " +
               std::to_string(caps.buffers) + " data of a task without a list of its own, " + std::to_string(caps.memories) +
               " memory nodes";
    }

private:
    static StarpuSettings settings_of(const EngineParts& parts)
    {
        StarpuSettings settings;
        for (const WorkerPlace& place : parts.workers) {
            settings.cores.push_back(place.core());
            settings.one_kind = settings.one_kind && place.kind == parts.workers.front().kind;
        }
        settings.policy = parts.policy.empty() ? StarpuTenancy::policies().front() : parts.policy;
        settings.flops_per_second = parts.nominal_flops_per_second;
        settings.folder = parts.models;
        return settings;
    }
    Index run_here(const std::function<void(Flow&)>& body)
    {
        ImmediateFlow flow(units_.front().kernels);
        body(flow);
        if (flow.cancelled()) throw Error(ErrorCode::cancelled, "the flow was cancelled");
        return flow.outcome().value();
    }

    const std::vector<ComputeUnit> units_;
    WorkerBooks books_;
    const OwnFlow::Home home_{"engine 'starpu'", units_, books_};
    StarpuTenancy tenancy_;
};

} // namespace

extern const EngineEntry engine_starpu;
const EngineEntry engine_starpu{
    {"starpu", "StarPU finds the dependences, schedules and runs the tasks", "Augonnet, Thibault, Namyst, Wacrenier 2011"},
    Starpu::abilities,
    [](EngineParts parts) { return std::unique_ptr<Engine>(std::make_unique<Starpu>(parts)); },
    why_no_starpu,
    [] { return StarpuTenancy::caps().workers; },
    StarpuTenancy::policies,
};

} // namespace trencadis
