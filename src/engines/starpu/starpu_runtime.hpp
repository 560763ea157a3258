#pragma once
#include "graph/access.hpp"
#include "graph/codelet.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

struct _starpu_data_state; // StarPU's name of what its handles point to

namespace trencadis {

/// What StarPU has of a task.
class StarpuTicket {
public:
    /// By one of its workers, which gives the places of the task's data (StarpuRuntime::place); destroys the ticket. Does not
    /// throw.
    virtual void run(int worker, void* const* places) = 0;
    /// Everything that it waits for is there; on any thread, before `run`.
    virtual void ready() {}

protected:
    ~StarpuTicket() = default;
};

/// What StarPU's build allows, which is fixed when it is compiled.
struct StarpuCaps {
    std::string version;
    int workers; ///< on cores
    int buffers; ///< data of a task; more of them have lists of their own
    int memories;
};

/// How StarPU is started.
struct StarpuSettings {
    std::vector<int> cores;         ///< one worker each, by OS number; negative: anywhere
    std::string policy;             ///< StarPU's name of it; empty: StarPU's own choice
    std::string folder;             ///< where performance models are kept; empty: nowhere
    double flops_per_second = 2e10; ///< of a core, about
    bool one_kind = true;           ///< of cores, so that one performance model is for all workers
    bool messages = false;          ///< between processes: StarPU-MPI runs with it

    bool operator==(const StarpuSettings&) const = default;
};

/// StarPU, as far as the engine uses it. What carries it out lies in a module of its own (starpu_module.cpp), which is loaded
/// when an engine is made, so that StarPU and the libraries behind it are in no program that does not use it. StarPU has one
/// state in a process: calls of members that change it (start, stop, pause, resume) come one at a time.
class StarpuRuntime {
public:
    using Handle = ::_starpu_data_state*; ///< what StarPU knows of a datum
    struct Use {
        Handle handle;
        AccessMode mode;
    };
    struct Submission {
        const Codelet& codelet;
        const char* label;
        double priority;
        Flops flops;
        std::span<const Use> uses; ///< each handle once; concurrent_write and reduce are reads
        StarpuTicket* ticket;
        bool says_ready = false; ///< the ticket wants to know when it is ready
    };

    virtual StarpuCaps caps() const = 0;
    virtual std::vector<std::string> policies() const = 0;
    /// Its workers run each ticket once. They sleep until `resume`. Throws Error{environment}.
    virtual void start(const StarpuSettings& settings) = 0;
    /// Every task has ended, every handle was given back, and the workers are awake. Performance models are written.
    virtual void stop() = 0;
    /// Idle workers sleep; otherwise they spin.
    virtual void pause() = 0;
    virtual void resume() = 0;

    /// A name (Datum::is_name) gets memory when a task writes it. Throws bad_alloc.
    virtual Handle enter(const Datum& datum) = 0;
    /// Returns when no task uses it any more.
    virtual void leave(Handle handle) = 0;
    /// Of a name: its memory goes when no task uses it any more.
    virtual void leave_later(Handle handle) = 0;
    /// Where the datum of that number in Submission::uses is for a running task.
    virtual Operand place(void* const* places, std::size_t number) const = 0;
    /// Throws bad_alloc, and Error{environment} when StarPU refuses the task; then it is not run.
    virtual void submit(const Submission& submission) = 0;

protected:
    ~StarpuRuntime() = default; ///< it lasts as long as the process
};

} // namespace trencadis
