#pragma once
#include "base/node_bytes.hpp"
#include "base/types.hpp"
#include "drivers/crew.hpp" // inside
#include "observe/trace.hpp"

#include <cstdint>
#include <functional> // inside
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace trencadis {

class Crew;
// inside >>>
class Executor;
class KernelProvider;
class Flow;
class PageHold;
class Processes;
struct Sent;
struct Datum;
struct DeviceTraffic;
struct EngineEntry;
struct EngineParts;
struct Machine;
namespace devices {
class Device;
}
namespace choices {
class Chooser;
struct Call;
struct Plan;
} // namespace choices
// <<<

/// What a session is made of, by name. Empty strings and zeros mean: the environment's choice
/// (TRENCADIS_NUM_THREADS, _SCHEDULER, _ENGINE, _KERNELS, _THREADS_BACKEND, _MACHINE, _PAGES, _RELIEF, _DEVICES, _OBJECTIVE),
/// then the default.
struct SessionOptions {
    std::string engine; ///< "native", "sequential"
    /// "mosaic", "eager", "ws", ...; with options as "cats:stealing=none" (docs/schedulers.md); of an engine with policies of its
    /// own, one of these; of a session whose engine chooses the next task in another way: empty.
    std::string scheduler;
    std::string kernels;        ///< "native", "mkl", ...; single routines from others: "native,potrf=mkl"
    std::string threads;        ///< what workers run on: "native", "os", "argobots", ...
    std::vector<int> workers;   ///< OS core numbers, one worker each; empty: all allowed cores, one per core
    int worker_count = 0;       ///< the first so many of the allowed cores; 0: all. Not together with `workers`
    std::int64_t window = 0;    ///< tasks in flight per flow
    std::map<int, double> slow; ///< emulation: worker's core -> fraction of its speed, in (0, 1]
    /// Emulation: a described machine laid over this one. `workers` are then places in its list of cores; they run on the allowed
    /// real cores in turn, several on one where it has more, at that core's speed. Kinds and memory nodes are the description's;
    /// memory is not bound.
    std::string machine;
    /// Where the pages of operands count as lying on it: "first-touch" (all on its first node) or "interleave" (in turn).
    std::string pages;
    /// When a worker with a task goes on with it on the core of one that is idle: "held-up" (its own core is taken from it),
    /// "always" (at once, for tests) or "never". The standard session's default is never, others' is held-up.
    std::string relief;
    /// Those that take part beside the cores: "emulated:2,memory=64MiB,bandwidth=4GB/s" (docs/devices.md). Of engine "native",
    /// not together with `machine`: elsewhere one that is asked for is refused, and the environment's is for other sessions.
    /// Whether they take part in a call follows from what was measured of them, but with `always=yes`. Empty: those of
    /// TRENCADIS_DEVICES; "none": not even those.
    std::string devices;
    /// Of engine "starpu-mpi": an MPI_Comm of the processes that work together, which is duplicated. Null: all of the program's;
    /// MPI is initialised where the program has not done so. All of them make the session, and end it.
    const void* communicator = nullptr;
    /// How calls are cut up follows from their sizes alone, not from the number of workers: the same bits from any number of
    /// them, by any policy of any engine (docs/bits.md). TRENCADIS_REPRODUCIBLE=1 asks for it in all sessions. Not with
    /// `devices`.
    bool reproducible = false;
    /// What the choice of forms and tile sizes is to make small, where `trencadis tune` has measured this host: "time", "energy",
    /// "energy-delay", or "rule": nothing is chosen, calls go as without a calibration (docs/choices.md).
    std::string objective = {};
};

/// The workers on one memory node.
struct NodeWorkers {
    int node; ///< its number, as the machine numbers them
    int workers;
    double speed; ///< in whole cores: slowed ones count with their fraction
};

/// Seconds each worker spent, since the session began or since reset_statistics.
struct WorkerStatistics {
    int cpu;
    std::string kind;
    Seconds busy; ///< inside tasks and shared chunks
    Seconds idle; ///< not inside tasks while a run was going on: looking for work, asleep, bookkeeping
    std::int64_t tasks;
    std::int64_t shares;  ///< times it joined another worker's task
    std::int64_t reliefs; ///< times it gave its core to a worker whose own was taken away
};

/// The composition root: names in, machine + engine + scheduler + kernels + threads out. All members may be called
/// from several threads at once; runs of several callers share the workers.
class Session {
public:
    explicit Session(const SessionOptions& options = {});
    ~Session(); ///< no call may be running. In a process forked since, whose threads are not here, its parts are left as they are
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// What the routines of drivers/linear_algebra.hpp take, so that they are called with a session.
    operator Crew&() { return *crew_; }
    operator const Crew&() const { return *crew_; }

    const SessionOptions& options() const; ///< as resolved: every name filled in, `workers` listed
    int workers() const;
    std::string runtime() const; ///< whose runtime the engine stands on: version, what its build allows; empty for our own
    bool overlaid() const;       ///< a described machine is laid over the real one
    std::vector<NodeWorkers> nodes() const; ///< the memory nodes that have workers, by number
    bool binds_nodes() const;               ///< tasks can be kept to the workers of a node; false also when there is one node

    // Data that stay on devices from call to call. Between calls their home has the current values as ever, so they can be read
    // there; the program says before a call that it has written there. What this session's calls write it knows. They may end
    // while calls run that use the data, which then forget them themselves. Any thread; no-one frees the memory while it is kept.
    /// A matrix of `rows` x `cols` elements of so many bytes, columns `ld` elements apart. Throws Error{bad_argument} where the
    /// session has no devices, where ld is less than the rows, and where some of it is kept already.
    void keep(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, std::size_t element_bytes);
    /// The program has written into what is kept and begins there. Throws Error{bad_argument} where nothing does.
    void touch_kept(const void* data);
    /// From now on the copies are forgotten after each call, as others'. Throws likewise.
    void leave(const void* data);

    // Arrays that lie on devices, with their home there. Routines of this session take them by the addresses that are returned,
    // as they take matrices in the host's memory, but nobody may read or write there; results come to lie there again before a
    // call returns. gemm, potrf, potrs, posv, getrf, getrs and gesv take them, the others refuse them. Calls that name the same
    // array go one after the other. Errors: Error{bad_argument} where the session has no such device or no such array,
    // Error{out_of_memory}, and Error{environment} where the device was lost. Any thread.
    /// Memory for an array on a device of this session, by its number from 0.
    void* allocate_on(int device, std::size_t bytes);
    /// Memory that somebody else has allocated there, by the address of its maker's interfaces, such as CUDA's; whoever has it
    /// keeps it until it is given up here. Where it is adopted twice, its two addresses are two matrices to calls. Throws
    /// Error{bad_argument} for what is none of that device's.
    void* adopt(int device, void* memory, std::size_t bytes);
    /// The array at this address is none of the session's from now on; where it was allocated here its memory goes. Throws
    /// Error{bad_argument} while a call uses it.
    void give_up(void* array);
    /// rows x cols elements of so many bytes, columns `ld` and `host_ld` elements apart, from the host's memory.
    void copy_to(void* array, std::int64_t ld, const void* host, std::int64_t host_ld, std::int64_t rows, std::int64_t cols,
                 std::size_t element_bytes);
    /// Likewise, to the host's memory.
    void copy_from(const void* array, std::int64_t ld, void* host, std::int64_t host_ld, std::int64_t rows, std::int64_t cols,
                   std::size_t element_bytes);
    /// From one array to another on the same device, without the host's memory where the device can.
    void copy_array(void* to, std::int64_t to_ld, const void* from, std::int64_t from_ld, std::int64_t rows, std::int64_t cols,
                    std::size_t element_bytes);

    void start_trace();
    Trace stop_trace();
    std::vector<WorkerStatistics> statistics() const;
    void reset_statistics();
    /// From now on products count what the workers of each memory node read and wrote (NodeProduct::bytes); also while a trace is
    /// recorded. Asking for the pages takes some 0.1 us each where there are several nodes.
    void count_node_bytes(bool on);
    bool counts_node_bytes() const;
    std::vector<NodeBytes> node_bytes() const; ///< since reset_statistics, one row per node; empty when nothing was counted

    /// The session behind calls that name none; made at the first call from the environment, once for each number of workers it
    /// has been limited to. Stays usable when the limit changes.
    static Session& standard();
    /// For callers that go on where the environment's devices cannot be had: those standard sessions that are made from now on
    /// have none. Where there is one that has them, but no room for a call: one without, beside it.
    static Session& standard_without_devices();
    static bool has_standard(); ///< it is there already
    /// For a call of so many operations: the standard session, or, where there is none yet and the call is not worth making it,
    /// one that computes on the calling thread and has no workers.
    static Session& standard(Flops flops);
    /// Is a call of so many operations worth making the standard session? So is every one of many that are nearly.
    static bool is_worth_standard(Flops flops);
    /// From now on the standard session has so many workers, at most one per allowed core; what is running goes on as it is.
    /// Throws Error{bad_argument} below 1.
    static void limit_standard(int workers);
    /// Workers of the standard session; starts none.
    static int standard_workers();

    // inside >>> what the library itself does with a session, and programs with what is made of it: routines, DataFlow
    /// Are all workers on cores of one kind, none of them slowed?
    bool has_equal_workers() const;
    /// Of a session of several processes: `failure` keeps this process from making it. The others, which make it, throw that
    /// instead of waiting for this one.
    static void refuse(const SessionOptions& options, const std::exception& failure);
    /// What `resolve` answers; refuses what it throws.
    template <class Resolve> static auto or_refuse(const SessionOptions& options, Resolve&& resolve)
    {
        try {
            return resolve();
        } catch (const std::exception& failure) {
            refuse(options, failure);
            throw;
        }
    }
    /// Runs `body` as a task that submits to the given flow; returns when all of it has finished, rethrows.
    /// `interrupted` is polled on the calling thread about every 50 ms; when it answers true the run is cancelled,
    /// and Error{cancelled} is thrown once the running tasks have ended.
    Index run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted = {});
    /// With these devices alone; `run` has all where they take part always, else none.
    Index run_with(std::uint64_t devices, const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted = {});
    Crew::Forecast devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const; ///< Crew::devices_for
    Seconds expected_there(const std::function<void(Flow&)>& submit) const;                    ///< Crew::expected_there
    std::optional<Crew::TakenPlan> plan_of(const Crew::PlanKey& key) const;
    void keep_plan(const Crew::PlanKey& key, const Crew::TakenPlan& plan) const;
    /// Page-locks the memory of the tasks that `submit` submits for these devices while what it returns lives, where that is
    /// worth it; null: nothing was locked. Nothing is run.
    std::unique_ptr<PageHold> lock_pages(std::uint64_t devices, const std::function<void(Flow&)>& submit);
    /// As `run`, by all processes (Engine::run_shared); and those: null where the engine has none.
    Index run_shared(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted = {},
                     const std::function<Datum(const Datum&)>& at_home = {});
    Processes* processes();
    Sent sent() const; ///< by this process in the last of these
    /// A flow that the caller's own thread submits to, with so many tasks in flight at most; 0: as the session has it. The
    /// session must outlive it. Throws Error{environment} in a process forked since the session was made.
    std::unique_ptr<Flow> open_flow(std::int64_t window = 0);
    Executor& executor(); ///< for flows whose dependences are ours; throws as open_flow
    const KernelProvider& kernels() const;
    const choices::Chooser* chooser() const; ///< null: calls go by rule
    /// A call goes by that plan and by so many workers, beside others with which there are so many: for the trace, where one is
    /// recorded.
    void note_choice(const choices::Call& call, const choices::Plan& plan, int workers, int callers);
    bool is_traced() const;
    bool was_asked_for_node_bytes() const; ///< by count_node_bytes; a trace has them in any case
    /// Of the standard session, which is not made for it. For calls that are over before workers could help.
    static const KernelProvider& standard_kernels();
    const Machine& machine() const; ///< the described one where one is laid over this
    /// See machine/node_memory.hpp; of an overlay by `pages`.
    std::vector<int> nodes_of_pages(const void* data, std::size_t pages) const;
    void add_node_bytes(const std::vector<NodeBytes>& rows);
    int devices() const;        ///< of `workers`
    Bytes device_bytes() const; ///< memory of the smallest one; 0: there is none
    std::vector<const DeviceKernels*> device_kernels() const;
    std::vector<DeviceTraffic> device_traffic() const; ///< since the session began, or since reset_statistics
    devices::Device* device(int number) const;         ///< null: there is none of that number
    bool minds_memory() const;                         ///< is anything kept, or in an array on a device?
    void give_up_idle_memory();                        ///< of devices: what neither arrays nor copies are in. Not from a task
    bool has_arrays() const;                           ///< is anything in an array on a device?
    int device_of(const void* in_array) const;         ///< -1: it is in none
    std::unique_ptr<Crew::Turn> turn_with(const std::vector<const void*>& matrices,
                                          const std::function<bool()>& interrupted); ///< Crew::turn_with
    void require_there(int device) const;      ///< throws Error{environment} where it was lost
    bool keeps() const;                        ///< is anything kept?
    void touch(const void* data, Bytes bytes); ///< these bytes are about to be written; null: any
    bool made_before_fork() const;             ///< its workers are not in this process

private:
    const EngineEntry& resolve(EngineParts& make, const SessionOptions& options);
    void require_workers() const; ///< throws Error{environment} where it was made before a fork
    void require_device(int number) const;
    // <<<
private:
    struct Parts;
    struct Running;
    std::unique_ptr<Parts> parts_;
    Crew* crew_; ///< among the parts
};

} // namespace trencadis
