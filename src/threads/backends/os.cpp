#include "base/error.hpp"
#include "threads/parker.hpp"
#include "threads/threads.hpp"

#include <cerrno>
#include <cstring>
#include <latch>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

namespace trencadis {
namespace {

/// One operating system thread per unit.
class OsUnit final : public Unit {
public:
    OsUnit(int cpu, std::function<void(Unit&)> body) : cpu_(cpu), body_(std::move(body))
    {
        // Signals are the caller's business: a worker that took SIGINT would hide it from the main thread.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const int failure = pthread_create(&thread_, nullptr, &OsUnit::enter, this);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (failure) throw Error(ErrorCode::environment, std::string("cannot start a thread: ") + std::strerror(failure));
    }
    ~OsUnit() override { pthread_join(thread_, nullptr); }
    void suspend() override { parker_.park(); }
    void resume() override { parker_.unpark(); }

private:
    static void* enter(void* self)
    {
        auto& unit = *static_cast<OsUnit*>(self);
        if (unit.cpu_ >= 0) {
            // A core that has meanwhile left the process's mask is no reason to fail: the worker then runs unpinned.
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(unit.cpu_, &set);
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
        }
        pthread_setname_np(pthread_self(), "trencadis");
        unit.body_(unit);
        return nullptr;
    }
    const int cpu_;
    std::function<void(Unit&)> body_;
    Parker parker_;
    pthread_t thread_;
};

class OsThreads final : public Threads {
public:
    std::unique_ptr<Unit> start(int cpu, std::function<void(Unit&)> body) override
    {
        return std::make_unique<OsUnit>(cpu, std::move(body));
    }
};

} // namespace

extern const ThreadsEntry threads_os;
const ThreadsEntry threads_os{
    {"os", "one operating system thread per unit, workers pinned to their cores", "POSIX threads"},
    [] { return std::unique_ptr<Threads>(std::make_unique<OsThreads>()); },
};

} // namespace trencadis
