#include "threads/stoppable.hpp"

#include "base/lasting.hpp"

#include <cfenv>
#include <iterator>
#include <linux/membarrier.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis {

namespace {

constexpr int stop_signal = SIGURG;
constexpr int faults[] = {SIGSEGV, SIGBUS};

struct Running {
    Stoppable* what;
    sigjmp_buf out;
    std::fenv_t environment; ///< rounding, and what becomes of subnormal numbers
};
/// What the thread runs. Its place is fixed when the thread starts, so that the handler needs no help of the dynamic linker.
[[gnu::tls_model("initial-exec")]] thread_local constinit Running* volatile running = nullptr;
struct sigaction handled_before[std::size(faults)];

} // namespace

/// Does not return if the thread is in a body that was stopped.
bool leave_stopped_body()
{
    Running* const here = running;
    if (here && here->what->stopped()) siglongjmp(here->out, 1);
    return false;
}

namespace {

void handle_stop(int, siginfo_t*, void*) { leave_stopped_body(); }

/// A fault of the program itself is for whoever handled it before.
void handle_fault(int signal, siginfo_t* info, void* context)
{
    leave_stopped_body();
    const struct sigaction& before = handled_before[signal == faults[0] ? 0 : 1];
    if (!(before.sa_flags & SA_SIGINFO) && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)) {
        sigaction(signal, &before, nullptr);
        if (info->si_code <= 0) raise(signal); // sent by somebody; else the instruction is tried again, which ends the process
        return;
    }
    sigset_t itself, mask;
    sigemptyset(&itself);
    sigaddset(&itself, signal);
    pthread_sigmask(SIG_BLOCK, &itself, &mask);
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(signal, info, context);
    else before.sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

bool install(int signal, void (*handler)(int, siginfo_t*, void*), int flags)
{
    struct sigaction ours = {};
    ours.sa_sigaction = handler;
    ours.sa_flags = flags | SA_SIGINFO | SA_NODEFER; // not blocked in the handler, which does not return
    sigemptyset(&ours.sa_mask);
    return sigaction(signal, &ours, nullptr) == 0;
}

bool prepare()
{
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    struct sigaction before;
    if (sigaction(stop_signal, nullptr, &before) != 0) return false;
    if ((before.sa_flags & SA_SIGINFO) || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)) return false;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return false;
    for (std::size_t i = 0; i < std::size(faults); ++i)
        if (sigaction(faults[i], nullptr, &handled_before[i]) != 0 || !install(faults[i], handle_fault, SA_ONSTACK)) return false;
    return install(stop_signal, handle_stop, SA_RESTART);
#endif
}

bool is_handled_by(int signal, void (*handler)(int, siginfo_t*, void*))
{
    struct sigaction now;
    return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler;
}

/// Workers take no signals but these. Each time: what ran on the thread before may have changed it.
void take_signals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, stop_signal);
    for (const int fault : faults) sigaddset(&set, fault);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

} // namespace

ThreadHandle ThreadHandle::mine()
{
    thread_local ThreadHandle mine;
    if (mine.id == 0) {
        mine.id = static_cast<pid_t>(syscall(SYS_gettid));
        if (pthread_getcpuclockid(pthread_self(), &mine.clock) != 0) mine.clock = CLOCK_THREAD_CPUTIME_ID;
    }
    return mine;
}

std::int64_t ThreadHandle::cpu_ns() const
{
    timespec time;
    if (id == 0 || clock_gettime(clock, &time) != 0) return -1;
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

bool Stoppable::run()
{
    take_signals();
    Running here{this, {}, {}};
    std::fegetenv(&here.environment); // a handler begins with that of a new thread
    // The mask need not be saved: the handler does not change it.
    if (sigsetjmp(here.out, 0) != 0) {
        running = nullptr;
        std::fesetenv(&here.environment);
        return false;
    }
    running = &here;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (stopped()) { // perhaps the signal came before the line above
        running = nullptr;
        return false;
    }
    body();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    running = nullptr;
    return true;
}

bool prepare_stopping()
{
    static constinit Lasting<const bool> prepared;
    return prepared.get([] { return new bool(prepare()); });
}

bool can_stop_threads()
{
    if (!prepare_stopping() || !is_handled_by(stop_signal, handle_stop)) return false;
    for (const int fault : faults)
        if (!is_handled_by(fault, handle_fault)) return false;
    return true;
}

bool stop_thread(ThreadHandle thread)
{
    return syscall(SYS_tgkill, getpid(), thread.id, stop_signal) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

} // namespace trencadis
