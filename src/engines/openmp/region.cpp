#include "base/error.hpp"
#include "base/lasting.hpp"
#include "engines/openmp/engine.hpp"

#include <exception>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace trencadis::openmp {
namespace {

thread_local WorkerId here = 0;
thread_local int regions_around = 0; ///< of ours

/// One thread's side of a region. Written and read by that thread alone.
struct alignas(64) Seat {
    WorkerId worker_before = 0;
    bool was_bound = false; ///< by us
    cpu_set_t affinity_before;
};

struct Region {
    OpenMpEngine& engine;
    const bool apart;
    const int wanted;
    const bool is_inside; ///< another region
    const std::function<void()>& master;
    std::vector<Seat> seats{static_cast<std::size_t>(wanted)};
    int given = 0; ///< the master's
    std::exception_ptr failure = nullptr;

    void enter(int thread, int threads)
    {
        Seat& seat = seats[std::size_t(thread)];
        if (thread == 0) given = threads;
        ++regions_around;
        const int worker = thread - apart;
        seat.worker_before = std::exchange(here, WorkerId(worker < 0 ? 0 : worker));
        if (worker < 0 || threads < wanted) return;
        const int core = engine.places()[std::size_t(worker)].core();
        if (core < 0 || core >= CPU_SETSIZE) return;
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(core, &only);
        if (pthread_getaffinity_np(pthread_self(), sizeof seat.affinity_before, &seat.affinity_before) != 0) return;
        if (CPU_EQUAL(&only, &seat.affinity_before)) return;
        seat.was_bound = pthread_setaffinity_np(pthread_self(), sizeof only, &only) == 0; // a core that has left: unbound then
    }
    void leave(int thread)
    {
        Seat& seat = seats[std::size_t(thread)];
        if (seat.was_bound) pthread_setaffinity_np(pthread_self(), sizeof seat.affinity_before, &seat.affinity_before);
        here = seat.worker_before;
        --regions_around;
    }
    void call_master()
    {
        try {
            if (given < wanted && !is_inside)
                throw Error(ErrorCode::environment, engine.runtime() + " gave " + std::to_string(given) + " of the " +
                                                        std::to_string(wanted) +
                                                        " threads that were asked for; see OMP_THREAD_LIMIT");
            master();
        } catch (...) {
            failure = std::current_exception();
        }
    }
};

} // namespace

WorkerId worker_here() { return here; }

bool may_submit(const Kind& kind) { return !kind.entered_by_kmpc || regions_around > 0 || syscall(SYS_gettid) == getpid(); }

void in_region(OpenMpEngine& engine, bool apart, const std::function<void()>& master)
{
    if (forks_so_far() > 0)
        throw Error(ErrorCode::environment, std::string(engine.name()) + " is of no use in a process that was forked");
    const TrcOpenMp& runtime = engine.calls();
    Region region{engine, apart, engine.workers() + apart, runtime.level() > 0, master};
    const TrcOpenMpRegion calls{
        [](void* of, int thread, int threads) { static_cast<Region*>(of)->enter(thread, threads); },
        [](void* of) { static_cast<Region*>(of)->call_master(); },
        [](void* of, int thread) { static_cast<Region*>(of)->leave(thread); },
        &region,
    };
    runtime.parallel(region.wanted, &calls);
    if (region.failure) std::rethrow_exception(region.failure);
}

} // namespace trencadis::openmp
