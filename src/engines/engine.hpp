#pragma once
#include "base/device_traffic.hpp"
#include "base/registry.hpp"
#include "engines/device_arrays.hpp"
#include "engines/devices/device_unit.hpp"
#include "engines/host_pages.hpp"
#include "engines/kept_data.hpp"
#include "engines/simulation_options.hpp"
#include "engines/simulation_report.hpp"
#include "graph/executor.hpp"
#include "graph/flow.hpp"
#include "graph/flow_options.hpp"
#include "graph/processes.hpp"
#include "graph/team.hpp"
#include "graph/unit.hpp"
#include "machine/kernel_speeds.hpp"
#include "machine/machine.hpp"
#include "memory/memory_event.hpp"
#include "observe/recorder.hpp"
#include "scheduling/scheduler.hpp"
#include "threads/threads.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trencadis {

class TaskFlow;

/// One worker to be: where it runs and how the machine describes that core.
struct WorkerPlace {
    int cpu = -1; ///< as reported: the OS number, or the place in a described machine
    int kind = 0;
    std::string kind_name = "core";
    double slow = 1; ///< emulation: the fraction of its speed that is left, in (0, 1]
    int on_cpu = -2; ///< OS number of the core it runs on when that is another one; -1: anywhere; -2: `cpu`
    int node = 0;    ///< its memory node

    int core() const { return on_cpu == -2 ? cpu : on_cpu; } ///< OS number; negative: anywhere
};

/// When a worker with a task goes on with it on the core of another one that has nothing to do.
enum class Relieving {
    held_up, ///< when its thread waits for its own core
    always,  ///< at once; for tests
    never,
};

/// What an engine is made of; the references outlive it.
struct EngineParts {
    std::vector<WorkerPlace> workers;
    SchedulerSpec scheduler;
    Threads* threads;
    double nominal_flops_per_second = 2e10; ///< of one core, until a speed was observed
    const Kernels* kernels = nullptr;       ///< what tasks compute with
    /// Whose memory nodes WorkerPlace::node numbers. Simulation: the described machine; WorkerPlace::cpu is an index into its
    /// cores.
    const Machine* machine = nullptr;
    std::function<int(const void*)> node_of =
        {};                        ///< real runs: the memory node that an address lies on, or any_node; see HostMemory
    std::vector<int> devices = {}; ///< simulation: those of its devices that are workers, after the cores
    std::vector<DeviceUnit> device_units = {}; ///< real runs: those that are workers, after the cores
    int device_slots = 2;                      ///< tasks that each of them takes ahead, whose data come while one computes
    MemoryLog memory_log = {};                 ///< of engines that move data
    SimulationOptions simulation = {};
    Relieving relieving = Relieving::held_up;
    KernelSpeeds speeds = {};           ///< real runs: what earlier ones have seen, by WorkerPlace::kind_name
    bool callers_anywhere = false;      ///< callers on cores that are no worker's may take part (CallSharing::attend)
    std::string policy = {};            ///< of the engine's own (EngineEntry::policies); empty: the first
    std::string models = {};            ///< the folder in which a runtime with speeds of its own keeps them; empty: nowhere
    const void* communicator = nullptr; ///< an MPI_Comm, of an engine with owners; null: all processes
};

/// Time inside tasks and shared chunks since the engine was made.
struct WorkerTime {
    std::int64_t busy_ns = 0;
    std::int64_t tasks = 0;
    std::int64_t shares = 0;
    std::int64_t reliefs = 0; ///< times it gave its core to a worker that was held up
};

/// What an engine does with the parts of the task model. What has no weaker meaning it refuses by name, before anything is
/// touched; tests/engines has every engine show each of them.
struct Capabilities {
    bool parallel = false;         ///< runs tasks at the same time
    bool malleable = false;        ///< idle workers join running operations
    bool emulates_slow = false;    ///< WorkerPlace::slow has an effect
    bool computes = true;          ///< runs the kernels; false: it only accounts for their time
    bool schedules_itself = false; ///< which ready task runs next, and where: no policy of ours is asked
    bool priorities = false;       ///< prefers larger TaskOptions::priority, where the policy does
    bool commute = false;          ///< AccessMode::commute: any order, one at a time; otherwise in the order of submission
    bool concurrent_write = false; ///< AccessMode::concurrent_write: several at once
    bool reduction = false;        ///< AccessMode::reduce: several at once, each on a part of its own
    bool nesting = false;          ///< tasks submit tasks to flows of their own
    bool cancellation = false;     ///< Flow::cancel, and the end of a run that its caller interrupts
    bool devices = false;          ///< EngineParts::device_units are workers
    bool owners = false;           ///< Datum::owner: data of several processes
};

/// How a run is carried out.
struct RunOptions {
    FlowOptions flow = {};
    /// Asked on the calling thread about every 50 ms; when it answers true the run is cancelled. None: nobody asks.
    const std::function<bool()>* interrupted = nullptr;
};

/// Of a shared run: where a datum that this process owns is in its memory, by its name, which is the same for all processes; what
/// is nowhere yet stays a name. None: names are addresses.
using AtHome = std::function<Datum(const Datum& name)>;

/// How many of the workers can help with a call of so many flops.
inline int helpers_for(Flops flops, int workers)
{
    constexpr Flops worth_a_helper = 2.5e5;
    return static_cast<int>(std::clamp(flops / worth_a_helper, 1.0, double(workers)));
}

/// What an engine offers to calls that are too short for tasks, and to callers that compute themselves.
class CallSharing {
public:
    /// Runs `call`, which submits to `flow` and waits for it, on the calling thread in the place of a worker that rests: the
    /// caller takes part in its own call, and nobody has to be woken for it. False: there is no such place, and nothing was run.
    virtual bool attend(TaskFlow& flow, const std::function<void()>& call) = 0;
    /// Does `work`, which takes all of so many chunks from its team, on the calling thread in the place of a worker that rests
    /// and on workers that are looking for work just then: a fork and a join for calls too short for a task. Where it takes
    /// long enough, some that sleep are woken. The chunks must be pure computation. Rethrows. False: too few would help, or
    /// somebody wants to see tasks, and nothing was run. `flops`: of double precision; of single precision half as many.
    virtual bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) = 0;
    virtual bool shares(Flops flops) const = 0; ///< would it? A guess
    /// Was one that joined such a call late for long, its core being somebody else's? Many tasks do better then. A guess.
    virtual bool is_wary() const = 0;
    /// What it takes a core to get a cache line that another has written last. A guess.
    virtual std::int64_t line_ns() const = 0;
    virtual double flops_per_ns() const = 0; ///< of a core, about
    /// So many workers that sleep look for work, for so long at least, since more calls are likely to follow.
    virtual void rouse(int helpers, std::int64_t for_ns) = 0;
    /// Would to wake one that sleeps make a call of so many flops shorter? A guess, from what waking took lately. Where a trace
    /// is recorded, yes: what a caller computes alone does not show.
    virtual bool is_worth_waking(Flops flops) const = 0;
    /// Is there such a place now? A guess.
    virtual bool has_room() const = 0;
    /// Have neighbours wanted the cores of all other workers lately? A guess.
    virtual bool are_others_crowded() const = 0;
    /// Workers that look for work without sleeping: they join a call within a microsecond. A guess.
    virtual int spinning() const = 0;

protected:
    ~CallSharing() = default;
};

/// Carries out flows of tasks. Flows whose dependences are ours go to an Executor inside it (engines/task_flow_engine.hpp); an
/// engine that finds dependences itself takes submissions as they come, and keeps them as StoredTask (graph/stored_task.hpp).
class Engine {
public:
    virtual ~Engine() = default; ///< every flow must be gone

    /// Calls `body` with a flow of the engine's, in whatever scope its tasks need around their submission, and returns when all
    /// of them have finished; rethrows. Answers what they have reported (Flow::outcome).
    virtual Index run(const RunOptions& options, const std::function<void(Flow&)>& body) = 0;
    /// A flow that the caller's own thread submits to. The engine must outlive it.
    virtual std::unique_ptr<Flow> open_flow(const FlowOptions& options) = 0;
    /// Those that run tasks, one for each worker.
    virtual std::span<const ComputeUnit> units() const = 0;
    virtual int workers() const { return static_cast<int>(units().size()); }
    virtual std::vector<WorkerTime> times() const = 0;
    virtual Recorder& recorder() = 0;
    virtual const Capabilities& capabilities() const = 0;
    /// How fast kernels were seen to be, now and in the earlier runs that it was told of.
    virtual KernelSpeeds speeds() const { return {}; }
    /// Since it was made, by device.
    virtual std::vector<DeviceTraffic> traffic() const { return {}; }
    /// What outlasts calls on its devices; null: it has none.
    virtual KeptData* kept_data() { return nullptr; }
    /// Arrays that lie on its devices; null: it has none.
    virtual DeviceArrays* device_arrays() { return nullptr; }
    /// What page-locks memory for its devices; null: it has none.
    virtual HostPages* host_pages() { return nullptr; }
    /// Whose runtime it stands on, in words: version, policy, what its build allows. Empty for our own.
    virtual std::string runtime() const { return {}; }
    /// Does it keep tasks for this memory node (TaskOptions::node) to the node's workers? Otherwise any worker runs them.
    virtual bool binds(int /*node*/) const { return false; }

    // What not every engine has; none: null.
    virtual Executor* executor() { return nullptr; } ///< for flows whose dependences are ours
    virtual CallSharing* call_sharing() { return nullptr; }
    virtual const ReportsSimulation* simulation() const { return nullptr; } ///< what a simulation counted

    // Of an engine with owners.
    virtual Processes* processes() { return nullptr; }
    virtual Sent sent() const { return {}; } ///< by this process in the last shared run
    /// As `run`, by all processes together with the same tasks in the same order, whose data have owners and names. Each is
    /// carried out by one of them (graph/owner_computes.hpp). The outcome is the same for all, and what one throws all of them
    /// do.
    virtual Index run_shared(const RunOptions& options, const std::function<void(Flow&)>& body, const AtHome& at_home);
};

struct EngineEntry : Entry {
    Capabilities capabilities;
    std::unique_ptr<Engine> (*make)(EngineParts parts);
    std::string (*why_not)() = nullptr; ///< why it cannot be made here, empty when it can; none: always
    int (*most_workers)() = nullptr;    ///< it can have so many; none: any number where it is parallel, otherwise one
    /// Of one that schedules itself: its own policies by name, first the one that it takes unless it is told. None: no choice.
    std::vector<std::string> (*policies)() = nullptr;
    /// Of one with owners: `failure` keeps this process from making the engine, which others on that communicator (as in
    /// EngineParts) are about to make. They throw it instead of waiting.
    void (*refuse)(const void* communicator, const std::exception& failure) = nullptr;
};
std::span<const EngineEntry* const> engine_entries();

} // namespace trencadis
