#include "engines/openmp/engine.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "engines/openmp/flows.hpp"
#include "engines/openmp/holders.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace trencadis::openmp {
namespace {

/// The runtimes take larger priorities than 0 only where this variable says so when the program starts.
bool priorities_are_on()
{
    const char* most = environment("OMP_MAX_TASK_PRIORITY");
    return most && std::strtol(most, nullptr, 10) > 0;
}

} // namespace

Capabilities OpenMpEngine::abilities(bool commute)
{
    return {.parallel = true,
            .schedules_itself = true,
            .priorities = priorities_are_on(),
            .commute = commute,
            .concurrent_write = true,
            .reduction = true,
            .nesting = true,
            .cancellation = true};
}

OpenMpEngine::OpenMpEngine(EngineParts parts, const Kind& kind, const Capabilities& abilities)
    : kind_(kind), runtime_(load(kind)), name_(std::string("engine '") + kind.engine + "'"), abilities_(abilities),
      places_(parts.workers), units_(parts.workers.size(), ComputeUnit{.kernels = parts.kernels}), books_(places_)
{
    const int most = calls().thread_limit();
    if (workers() > most)
        throw Error(ErrorCode::bad_argument, name_ + " has at most " + std::to_string(most) +
                                                 " workers where OMP_THREAD_LIMIT is " + std::to_string(most) + ", and " +
                                                 std::to_string(workers()) + " were asked for");
}

int OpenMpEngine::priority(double wanted) const
{
    const double most = calls().most_priority();
    return std::isnan(wanted) ? 0 : static_cast<int>(std::clamp(std::round(wanted), 0.0, most));
}

Index OpenMpEngine::run(const RunOptions& options, const std::function<void(Flow&)>& body)
{
    Caller caller(options.interrupted);
    Index outcome = 0;
    const auto in_flow = [&] {
        RegionFlow flow(*this, options.flow, nullptr, &caller);
        const Caller::Called called(caller, flow);
        body(flow);
        flow.wait();
        outcome = flow.outcome().value();
    };
    if (may_submit(kind_)) in_region(*this, false, in_flow);
    else run_elsewhere(caller, [&] { in_region(*this, false, in_flow); });
    return outcome;
}

/// The calling thread sleeps, and is asked meanwhile whether it wishes to stop.
void OpenMpEngine::run_elsewhere(Caller& caller, const std::function<void()>& region)
{
    const FloatModes modes = FloatModes::current();
    FloatModes::Raised raised = 0;
    std::exception_ptr failure;
    Unfinished unfinished;
    unfinished.begin();
    Holder::take(kind_).begin([&] {
        const FloatScope scope(modes);
        try {
            region();
        } catch (...) {
            failure = std::current_exception();
        }
        raised = scope.raised();
        unfinished.end();
    });
    unfinished.await(0, caller.interruption, [&] { caller.stop(); });
    raise_quietly(raised);
    if (failure) std::rethrow_exception(failure);
}

std::unique_ptr<Flow> OpenMpEngine::open_flow(const FlowOptions& options) { return std::make_unique<HeldFlow>(*this, options); }

} // namespace trencadis::openmp
