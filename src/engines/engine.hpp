#pragma once
#include "base/registry.hpp"
#include "engines/simulation_options.hpp"
#include "engines/simulation_report.hpp"
#include "graph/executor.hpp"
#include "graph/flow.hpp"
#include "graph/flow_options.hpp"
#include "graph/team.hpp"
#include "machine/machine.hpp"
#include "observe/recorder.hpp"
#include "scheduling/scheduler.hpp"
#include "threads/threads.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trencadis {

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
    /// Whose memory nodes WorkerPlace::node numbers. Simulation: the described machine; WorkerPlace::cpu is an index into its cores.
    const Machine* machine = nullptr;
    std::function<int(const void*)> node_of =
        {};                        ///< real runs: the memory node that an address lies on, or any_node; see HostMemory
    std::vector<int> devices = {}; ///< simulation: those of its devices that are workers, after the cores
    SimulationOptions simulation = {};
    Relieving relieving = Relieving::held_up;
    bool callers_anywhere = false; ///< callers on cores that are no worker's may take part (Engine::attend)
};

/// Time inside tasks and shared chunks since the engine was made.
struct WorkerTime {
    std::int64_t busy_ns = 0;
    std::int64_t tasks = 0;
    std::int64_t shares = 0;
    std::int64_t reliefs = 0; ///< times it gave its core to a worker that was held up
};

/// What an engine does with the parts of the task model; nothing is ignored without being said here.
struct Capabilities {
    bool parallel;        ///< runs tasks at the same time
    bool live_priorities; ///< orders ready tasks by priority where the scheduler does
    bool malleable;       ///< idle workers join running operations
    bool emulates_slow;   ///< WorkerPlace::slow has an effect
    bool computes = true; ///< runs the kernels; false: it only accounts for their time
};

/// Carries out flows of tasks.
class Engine : public Executor {
public:
    virtual int workers() const = 0;
    /// A flow of an engine that finds dependences itself and takes submissions as they come; none: its flows are TaskFlow.
    virtual std::unique_ptr<Flow> own_flow(const FlowOptions& /*options*/) { return nullptr; }
    virtual std::vector<WorkerTime> times() const = 0;
    virtual Recorder& recorder() = 0;
    /// While `poll` is set, the calling thread asks it about every 50 ms when it waits for a flow of its own, and cancels the
    /// flow when it answers true.
    virtual void poll_while_waiting(const std::function<bool()>* poll) = 0;
    /// Runs `call`, which submits to `flow` and waits for it, on the calling thread in the place of a worker that rests: the caller takes
    /// part in its own call, and nobody has to be woken for it. False: there is no such place, and nothing was run.
    virtual bool attend(TaskFlow& /*flow*/, const std::function<void()>& /*call*/) { return false; }
    /// Does `work`, which takes all of so many chunks from its team, on the calling thread in the place of a worker that rests and on workers
    /// that are looking for work just then: a fork and a join for calls too short for a task. The chunks must be pure computation.
    /// Rethrows. False: too few are awake, or somebody wants to see tasks, and nothing was run.
    virtual bool shares(int /*helpers*/) const { return false; } ///< would it, where so many could help? A guess
    virtual bool share_out(Index /*chunks*/, const std::function<void(Team&)>& /*work*/) { return false; }
    /// Was one that joined such a call late for long, its core being somebody else's? Many tasks do better then. A guess.
    virtual bool is_wary() const { return false; }
    /// So many workers that sleep look for work, since more calls are likely to follow.
    virtual void rouse(int /*helpers*/) {}
    /// Is there such a place now? A guess.
    virtual bool has_room() const { return true; }
    /// Workers that look for work without sleeping: they join a call within a microsecond. A guess.
    virtual int spinning() const { return 0; }
    /// What a simulation counted so far; engines that run in real time have none.
    virtual SimulationReport simulation_report() const { return {}; }
};

/// A flow on the engine: its own, or one whose dependences are ours.
std::unique_ptr<Flow> open_flow(Engine& engine, const FlowOptions& options);

struct EngineEntry : Entry {
    Capabilities capabilities;
    std::unique_ptr<Engine> (*make)(EngineParts parts);
    std::string (*why_not)() = nullptr; ///< why it cannot be made here, empty when it can; none: always
};
std::span<const EngineEntry* const> engine_entries();

} // namespace trencadis
