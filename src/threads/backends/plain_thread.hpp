#pragma once
#include "base/error.hpp"
#include "threads/last_thread.hpp"

#include <cstring>
#include <functional>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <utility>

namespace trencadis {

/// Keeps the calling thread on the core (OS number; negative: where it may run now). A core that has meanwhile left the process's
/// mask is no reason to fail: the thread then runs where it may.
inline void pin_to(int cpu)
{
    if (cpu < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/// An operating system thread that takes no signals but those of its own faults, nor do those it starts: a worker that took
/// SIGINT would hide it from the main thread. Nor does it keep the process when the program's own threads have ended.
class PlainThread {
public:
    /// Throws Error{environment} when the system gives no more threads.
    PlainThread(const char* name, std::function<void()> body) : name_(name), body_(std::move(body))
    {
        notice_the_end_of_the_first_thread();
        sigset_t all, before;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const int failure = pthread_create(&thread_, nullptr, &PlainThread::enter, this);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (failure) throw Error(ErrorCode::environment, std::string("cannot start a thread: ") + std::strerror(failure));
    }
    ~PlainThread() { pthread_join(thread_, nullptr); }
    PlainThread(const PlainThread&) = delete;
    PlainThread& operator=(const PlainThread&) = delete;

private:
    static void* enter(void* self)
    {
        auto& thread = *static_cast<PlainThread*>(self);
        const OurThread ours;
        pthread_setname_np(pthread_self(), thread.name_);
        thread.body_();
        return nullptr;
    }
    const char* const name_; ///< at most 15 characters
    const std::function<void()> body_;
    pthread_t thread_;
};

} // namespace trencadis
