#pragma once
#include "engines/engine.hpp"
#include "engines/starpu/flow.hpp"

#include <string>
#include <vector>

namespace trencadis {

/// Tasks go to StarPU as they are submitted: it finds their dependences, schedules them, and runs them on workers of its own on
/// the cores of ours. Workers sleep while no flow is open.
class StarpuEngine : public Engine {
public:
    static constexpr Capabilities abilities{.parallel = true,
                                            .schedules_itself = true,
                                            .priorities = true,
                                            .commute = true,
                                            .concurrent_write = true,
                                            .reduction = true,
                                            .nesting = true,
                                            .cancellation = true};

    /// `name`: for messages. `group`: of an engine with other processes.
    explicit StarpuEngine(const EngineParts& parts, const char* name = "engine 'starpu'", const StarpuGroup* group = nullptr);

    /// Inside one of its tasks StarPU's worker carries the call out alone, in order: to wait for the others would take the
    /// worker away that they may need.
    Index run(const RunOptions& options, const std::function<void(Flow&)>& body) override;
    std::unique_ptr<Flow> open_flow(const FlowOptions& options) override;
    std::span<const ComputeUnit> units() const override { return units_; }
    std::vector<WorkerTime> times() const override { return books_.times(); }
    Recorder& recorder() override { return books_.recorder(); }
    const Capabilities& capabilities() const override { return abilities; }
    std::string runtime() const override;

protected:
    StarpuTenancy& tenancy() { return tenancy_; }
    const OwnFlow::Home& home() const { return home_; }

private:
    Index run_here(const std::function<void(Flow&)>& body);

    const std::vector<ComputeUnit> units_;
    WorkerBooks books_;
    const OwnFlow::Home home_;
    StarpuTenancy tenancy_;
};

} // namespace trencadis
