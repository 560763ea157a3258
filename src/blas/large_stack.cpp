#include "blas/large_stack.hpp"

#include "machine/machine.hpp"

#include <exception>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis::blas {
namespace {

constexpr std::size_t enough = 256 << 10;

/// The first thread's grows as needed; to ask for its size would read /proc.
bool has_small_stack()
{
    if (syscall(SYS_gettid) == getpid()) return false;
    pthread_attr_t attributes;
    std::size_t size = enough;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size < enough;
}

struct Reading {
    const std::function<Machine()>& read;
    Machine machine;
    std::exception_ptr failure;

    static void* run(void* self)
    {
        Reading& reading = *static_cast<Reading*>(self);
        try {
            reading.machine = reading.read();
        } catch (...) {
            reading.failure = std::current_exception();
        }
        return nullptr;
    }
};

/// With all signals blocked: the program's handlers are for its own threads.
bool run_elsewhere(Reading& reading)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 4 * enough);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool made = pthread_create(&thread, &attributes, &Reading::run, &reading) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (made) pthread_join(thread, nullptr);
    return made;
}

} // namespace

Machine on_a_large_stack(const std::function<Machine()>& read)
{
    if (!has_small_stack()) return read();
    Reading reading{read, {}, {}};
    if (!run_elsewhere(reading)) return read();
    if (reading.failure) std::rethrow_exception(reading.failure);
    return std::move(reading.machine);
}

} // namespace trencadis::blas
