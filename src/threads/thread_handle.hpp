#pragma once
#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace trencadis {

/// A thread of this process as the others see it.
struct ThreadHandle {
    pid_t id = 0; ///< 0: none
    clockid_t clock = 0;

    static ThreadHandle mine();
    /// Processor time that it has used, -1 when there is no such thread. While it runs on a core the time grows between any two
    /// readings; while it waits for a core it stands still. One system call.
    std::int64_t cpu_ns() const;
    /// It runs on this core (OS number) and no other from now on, at once if it waits for another one. It must still exist: the
    /// system gives numbers of threads that have ended to others. False: the system refused. A few microseconds; the caller waits
    /// for the core if it is its own.
    bool move_to(int cpu) const;
    bool operator==(const ThreadHandle&) const = default;
};

} // namespace trencadis
