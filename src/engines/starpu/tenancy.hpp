#pragma once
#include "engines/starpu/messages.hpp"

#include <string>

namespace trencadis {

/// Why there is no StarPU here; empty when there is.
std::string why_no_starpu();
/// Nor StarPU-MPI.
std::string why_no_starpu_mpi();
/// Throws Error{missing_backend}.
StarpuMessages& starpu_messages();

/// An engine's share in the process's StarPU, which is started for the first of them and stopped with the last. Engines that want
/// it alike have it together; for one that wants it otherwise it is started anew, unless a flow of another one is open.
class StarpuTenancy {
public:
    /// Throws Error{missing_backend}, Error{environment}, and Error{bad_argument} for settings that StarPU's build does not
    /// allow.
    /// `group`: of settings with messages.
    explicit StarpuTenancy(StarpuSettings settings, const StarpuGroup* group = nullptr);
    ~StarpuTenancy();
    StarpuTenancy(const StarpuTenancy&) = delete;
    StarpuTenancy& operator=(const StarpuTenancy&) = delete;

    /// Until the `end` that belongs to it StarPU is as this engine wants it. Throws Error{environment} while it is in use
    /// otherwise, and in a process forked since it was started.
    StarpuRuntime& begin();
    void end();

    // Between begin and end, any thread.

    /// A task is about to be submitted; has ended, on a worker of StarPU's. When there is none the workers sleep.
    void task_begins();
    void task_ends();
    /// What was submitted is to be run.
    void wake();
    /// From where a task becomes ready, before a worker can have it: on the thread of messages after that, since a worker that
    /// looks for it in vain would keep the core from that thread.
    void wake_for_ready_task();
    /// What StarPU knows of a datum. It is registered once and kept when it is given back, for
    /// the next flow that names the same memory in the same shape. Throws bad_alloc.
    StarpuRuntime::Handle take(const Datum& datum);
    void give_back(const Datum& datum, StarpuRuntime::Handle handle) noexcept;

    const StarpuSettings& settings() const { return settings_; }
    // Both throw Error{missing_backend} where there is no StarPU.

    static StarpuCaps caps();
    /// First the one that STARPU_SCHED names, or else the one that is best for tile algorithms on cores; throws
    /// Error{bad_argument} where it names none.
    static std::vector<std::string> policies();

private:
    const StarpuSettings settings_;
    const StarpuGroup* const group_;
};

} // namespace trencadis
