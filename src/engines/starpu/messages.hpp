#pragma once
#include "engines/starpu/starpu_runtime.hpp"
#include "graph/processes.hpp"

#include <cstdint>
#include <exception>
#include <memory>

namespace trencadis {

/// The processes of an engine, and what passes between them. Sends and receives are ordered among StarPU's tasks as tasks that
/// read or write the datum; no two of one tag are under way between two processes.
class StarpuGroup : public Processes {
public:
    virtual ~StarpuGroup() = default; ///< called by all its processes, as everything here

    /// `done(argument)` is called when the datum may be used again, on a thread of StarPU's.
    virtual void send(StarpuRuntime::Handle handle, int to, std::int64_t tag, double priority, void (*done)(void*),
                      void* argument) = 0;
    virtual void receive(StarpuRuntime::Handle handle, int from, std::int64_t tag, void (*done)(void*), void* argument) = 0;
    /// Everything that was submitted has arrived: the processes may speak to each other themselves.
    virtual void settle() = 0;
    /// Ends all processes, after a line on standard error: one has lost its way in a flow that others wait for.
    [[noreturn]] virtual void abort(const char* why) = 0;
};

/// StarPU-MPI, as far as the engine uses it, in a module of its own as StarPU itself.
class StarpuMessages {
public:
    /// MPI, its version, and how many threads may call it, in words.
    virtual std::string runtime() const = 0;
    /// `communicator`: an MPI_Comm, which is duplicated; null: the whole world. MPI is initialised where nobody has, and then
    /// finalised at the end of the process. Throws Error{environment} where the host's threads may not call it,
    /// Error{bad_argument} for a communicator that is none, or lies between two groups, and what one of the processes refuses.
    virtual std::unique_ptr<StarpuGroup> join(const void* communicator) = 0;
    /// Instead of `join`, to which the others come: what makes a session impossible in this process. They throw it. Nobody hears
    /// of it where there is no MPI, or no such communicator.
    virtual void refuse(const void* communicator, const std::exception& failure) = 0;
    // Around a time in which StarPU runs.
    virtual void start(const StarpuGroup& first) = 0;
    virtual void stop() = 0;
    /// On the thread that looks for messages: `what` is called there, when it is through with the one at hand. Elsewhere false.
    virtual bool later(void (*what)()) = 0;

    // Around a call of several processes, which MPI's end waits for, and cancels when that takes long. Throws Error{environment}
    // where it has come.
    virtual void call_begins() = 0;
    virtual void call_ends() = 0;
    virtual bool cancels_calls() = 0;

protected:
    ~StarpuMessages() = default; ///< it lasts as long as the process
};

} // namespace trencadis
