#pragma once
#include <atomic>
#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace trencadis {

/// A thread of this process as the others see it.
struct ThreadHandle {
    pid_t id = 0;
    clockid_t clock = 0;

    static ThreadHandle mine();
    /// Processor time that it has used, -1 when there is no such thread. While it runs on a core the time grows between any two
    /// readings; while it waits for a core it stands still. One system call.
    std::int64_t cpu_ns() const;
    bool operator==(const ThreadHandle&) const = default;
};

/// Code that another thread can stop for good wherever it is, also while the system makes its thread wait for a core.
///
/// Another thread first makes `stopped` true, then calls stop_thread. When that returns, not one instruction of the body is
/// executed any more: the thread may be anywhere in it, but goes on after `run`, which answers false.
///
/// Why that holds: stop_thread sends the thread a signal, then has the kernel interrupt every core on which this process runs (membarrier).
/// A thread that runs is interrupted, one that does not run must pass through the kernel to run again; both handle pending
/// signals before the next instruction of the program, and the handler, which sees `stopped`, jumps out of the body.
/// The body may return, and its thread call `run` again, at any time before: the handler does nothing outside of a body
/// or in one that is not stopped. A signal that comes before the body begins is not lost: `run` looks at `stopped` once more then.
/// The thread may get the signal when it does something else already; a system call that cannot be resumed then ends early (EINTR).
///
/// A thread that the kernel was just serving a page fault when it was stopped may find that memory gone: the fault that it then
/// gets comes before the other signal, and its handler does the same. All other faults go to whoever handled them before.
///
/// The body must not allocate, lock, wait or use variables of a thread, and must own nothing: it can be left anywhere. Cost of run:
/// about 0.2 us. The signal is SIGURG, which is ignored by default; threads that run bodies take it.
class Stoppable {
public:
    /// True: the body has returned. False: it was stopped.
    bool run();

protected:
    ~Stoppable() = default;
    virtual void body() = 0;
    virtual bool stopped() const = 0; ///< also called by the signal's handler

private:
    friend bool leave_stopped_body();
};

/// Installs the handlers at the first call. False: threads cannot be stopped, because the kernel lacks membarrier (Linux 4.14), the
/// program uses SIGURG itself, or a sanitizer delays signals (ThreadSanitizer).
bool prepare_stopping();
/// The same, and whether the handlers are still there: the program may have set its own since. Some system calls.
bool can_stop_threads();
/// Only after can_stop_threads has answered true. False: the system refused, and the thread may still be in its body. A few microseconds.
bool stop_thread(ThreadHandle thread);

} // namespace trencadis
