#include "base/environment.hpp"
#include "base/error.hpp"
#include "engines/starpu/engine.hpp"
#include "engines/starpu/shared_flow.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>

namespace trencadis {
namespace {

/// What one of the processes has thrown is thrown by all.
void tell_all(StarpuGroup& group, const std::exception_ptr& failure)
{
    if (group.size() == 1 && failure) std::rethrow_exception(failure);
    if (group.size() == 1) return;
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        group.throw_together(&error);
    } catch (...) {
        const Error unknown(ErrorCode::environment, "a task has thrown what is no exception of the standard library's");
        group.throw_together(&unknown);
    }
    group.throw_together(nullptr);
}

/// Has the processes before StarPU is started with them.
struct HasGroup {
    const std::shared_ptr<StarpuGroup> group;
};

/// StarPU in each process, and StarPU-MPI between them. Flows that do not say otherwise are of their process alone.
class StarpuMpi final : private HasGroup, public StarpuEngine {
public:
    static constexpr Capabilities abilities = [] {
        Capabilities abilities = StarpuEngine::abilities;
        abilities.owners = true;
        return abilities;
    }();

    StarpuMpi(const EngineParts& parts, std::shared_ptr<StarpuGroup> all)
        : HasGroup{std::move(all)}, StarpuEngine(parts, "engine 'starpu-mpi'", group.get())
    {
    }

    const Capabilities& capabilities() const override { return abilities; }
    Processes* processes() override { return group.get(); }
    Sent sent() const override { return sent_; }
    std::string runtime() const override
    {
        return StarpuEngine::runtime() + "; " + starpu_messages().runtime() + ", " + std::to_string(group->size()) +
               (group->size() == 1 ? " process" : " processes");
    }

    Index run_shared(const RunOptions& options, const std::function<void(Flow&)>& body, const AtHome& at_home) override
    {
        if (StarpuFlow::inside_task())
            throw Error(ErrorCode::bad_argument, "a task cannot begin work of several processes, which its own flow waits for");
        const Call call;
        const std::function<bool()> interrupted = [&] {
            return Call::is_cancelled() || (options.interrupted && *options.interrupted && (*options.interrupted)());
        };
        RunOptions until_the_end = options;
        until_the_end.interrupted = &interrupted;
        std::optional<SharedFlow> flow;
        begin_together(flow, until_the_end, at_home);
        std::exception_ptr failure;
        carry_out(*flow, body, failure);
        sent_ = flow->sent();
        const Index info = flow->outcome().value();
        flow.reset();
        group->settle();
        tell_all(*group, failure);
        std::int64_t first = info != 0 ? info : std::numeric_limits<std::int64_t>::max();
        group->smallest({&first, 1});
        return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
    }

private:
    /// Which MPI's end waits for.
    struct Call {
        Call() { starpu_messages().call_begins(); }
        ~Call() { starpu_messages().call_ends(); }
        static bool is_cancelled() { return starpu_messages().cancels_calls(); }
    };
    /// One that cannot begin, because StarPU is in use otherwise in its process, says so before any of them submits.
    void begin_together(std::optional<SharedFlow>& flow, const RunOptions& options, const AtHome& at_home)
    {
        std::exception_ptr failure;
        try {
            OwnFlow::Home home = StarpuEngine::home();
            home.owners = true;
            flow.emplace(tenancy(), *group, memory_, home, options, at_home);
        } catch (...) {
            failure = std::current_exception();
        }
        tell_all(*group, failure);
    }
    /// What is refused is refused by all processes at the same task. Who fails otherwise while it submits leaves the others
    /// without what they wait for.
    void carry_out(SharedFlow& flow, const std::function<void(Flow&)>& body, std::exception_ptr& failure)
    {
        try {
            body(flow);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::bad_argument && group->size() > 1) group->abort(error.what());
            failure = std::current_exception();
        } catch (const std::exception& error) {
            if (group->size() > 1) group->abort(error.what());
            failure = std::current_exception();
        } catch (...) {
            if (group->size() > 1) group->abort("what submits has thrown what is no exception of the standard library's");
            failure = std::current_exception();
        }
        try {
            flow.wait();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    }

    Sent sent_;
    NamedMemory memory_;
};

/// One process in which StarPU does not start leaves none of them with an engine.
std::unique_ptr<Engine> make(const EngineParts& parts)
{
    const std::shared_ptr<StarpuGroup> group = starpu_messages().join(parts.communicator);
    std::unique_ptr<Engine> engine;
    std::exception_ptr failure;
    try {
        engine = std::make_unique<StarpuMpi>(parts, group);
    } catch (...) {
        failure = std::current_exception();
    }
    tell_all(*group, failure);
    return engine;
}

/// First one that goes by priorities: what others wait for is on the longest way to the end.
std::vector<std::string> policies()
{
    std::vector<std::string> known = StarpuTenancy::policies();
    const auto place = std::ranges::find(known, "prio");
    if (!environment("STARPU_SCHED") && place != known.end()) std::rotate(known.begin(), place, place + 1);
    return known;
}

} // namespace

extern const EngineEntry engine_starpu_mpi;
const EngineEntry engine_starpu_mpi{
    {"starpu-mpi", "StarPU in each of several processes, with StarPU-MPI between them",
     "Agullo, Aumage, Faverge, Furmento, Pruvost, Sergent, Thibault 2017"},
    StarpuMpi::abilities,
    [](EngineParts parts) { return make(parts); },
    why_no_starpu_mpi,
    [] { return StarpuTenancy::caps().workers; },
    policies,
    [](const void* communicator, const std::exception& failure) { starpu_messages().refuse(communicator, failure); },
};

} // namespace trencadis
