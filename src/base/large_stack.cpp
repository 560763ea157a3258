#include "base/large_stack.hpp"

#include "base/float_modes.hpp"
#include "base/lasting.hpp"

#include <exception>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis {
namespace {

constexpr std::size_t enough = 256 << 10;

/// The first thread's grows as needed; to ask for its size would read /proc. In a forked child it is the one that forked.
bool ask_for_small_stack()
{
    if (forks_so_far() == 0 && syscall(SYS_gettid) == getpid()) return false;
    pthread_attr_t attributes;
    std::size_t size = enough;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size < enough;
}

bool has_small_stack()
{
    thread_local const bool small = ask_for_small_stack();
    return small;
}

struct Work {
    const std::function<void()>& body;
    std::exception_ptr failure;
    FloatModes modes = FloatModes::current();
    FloatModes::Raised raised = 0;

    static void* run(void* self)
    {
        Work& work = *static_cast<Work*>(self);
        const FloatScope scope(work.modes);
        try {
            work.body();
        } catch (...) {
            work.failure = std::current_exception();
        }
        work.raised = scope.raised();
        return nullptr;
    }
};

/// With all signals blocked but those of its own faults: the program's handlers are for its own threads, and for its memory.
bool run_elsewhere(Work& work)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 4 * enough);
    sigset_t all, before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool made = pthread_create(&thread, &attributes, &Work::run, &work) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (made) pthread_join(thread, nullptr);
    return made;
}

} // namespace

void on_a_large_stack(const std::function<void()>& body)
{
    if (!has_small_stack()) return body();
    Work work{body, {}};
    if (!run_elsewhere(work)) return body();
    raise_quietly(work.raised);
    if (work.failure) std::rethrow_exception(work.failure);
}

} // namespace trencadis
