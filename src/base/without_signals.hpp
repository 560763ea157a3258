#pragma once
#include <signal.h>

namespace trencadis {

/// The signals of the process are for its own threads: those that are started meanwhile take none but their own faults.
class WithoutSignals {
public:
    WithoutSignals()
    {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    WithoutSignals(const WithoutSignals&) = delete;
    WithoutSignals& operator=(const WithoutSignals&) = delete;

    /// While it lives, the thread takes those again that it took before: where it waits.
    class Heard {
    public:
        explicit Heard(const WithoutSignals& masked) { pthread_sigmask(SIG_SETMASK, &masked.before_, &without_); }
        ~Heard() { pthread_sigmask(SIG_SETMASK, &without_, nullptr); }
        Heard(const Heard&) = delete;
        Heard& operator=(const Heard&) = delete;

    private:
        sigset_t without_;
    };

private:
    sigset_t before_;
};

} // namespace trencadis
