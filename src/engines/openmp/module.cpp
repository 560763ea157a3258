// Compiled twice: by g++ for libgomp, and by clang for libomp. Nothing of the library is used here, so that neither the
// compilers' C++ libraries nor their flags have to agree.
#include "engines/openmp/runtime.h"

#include <omp.h>

#ifdef __clang__
extern "C" void __kmpc_omp_task_with_deps();
#define TRC_COMPILER "clang " __clang_version__
#else
extern "C" void GOMP_task();
#define TRC_COMPILER "gcc " __VERSION__
#endif

namespace {

using Dependences = TrcOpenMpDependences;

#define TRC_ADDRESSES(kind) iterator(int i = 0 : after->kind##s), kind : *static_cast<char*>(after->kind[i])

void submit_plain(const Dependences* after, int priority, void (*run)(void*), void* argument)
{
#pragma omp task depend(TRC_ADDRESSES(in)) depend(TRC_ADDRESSES(inout)) priority(priority) firstprivate(run, argument)
    run(argument);
}

void submit_commuting(const Dependences* after, int priority, void (*run)(void*), void* argument)
{
#pragma omp task depend(TRC_ADDRESSES(in)) depend(TRC_ADDRESSES(inout)) depend(TRC_ADDRESSES(mutexinoutset)) priority(priority)  \
    firstprivate(run, argument)
    run(argument);
}

#ifdef TRC_HAS_INOUTSET
void submit_any(const Dependences* after, int priority, void (*run)(void*), void* argument)
{
#pragma omp task depend(TRC_ADDRESSES(in)) depend(TRC_ADDRESSES(inout)) depend(TRC_ADDRESSES(mutexinoutset))                     \
    depend(TRC_ADDRESSES(inoutset)) priority(priority) firstprivate(run, argument)
    run(argument);
}
#endif

void submit(const Dependences* after, int priority, void (*run)(void*), void* argument)
{
#ifdef TRC_HAS_INOUTSET
    if (after->inoutsets) return submit_any(after, priority, run, argument);
#endif
    if (after->mutexinoutsets) return submit_commuting(after, priority, run, argument);
    submit_plain(after, priority, run, argument);
}

void wait()
{
#pragma omp taskwait
}

void wait_for(void* address)
{
    [[maybe_unused]] char* const datum = static_cast<char*>(address);
#pragma omp taskwait depend(inout : *datum)
}

void parallel(int threads, const TrcOpenMpRegion* region)
{
    const int dynamic = omp_get_dynamic(); // the host's wish, for its own regions
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
    {
        const int thread = omp_get_thread_num();
        region->enter(region->of, thread, omp_get_num_threads());
        if (thread == 0) region->master(region->of);
#pragma omp barrier
        region->leave(region->of, thread);
    }
    omp_set_dynamic(dynamic);
}

const void* entry()
{
#ifdef __clang__
    return reinterpret_cast<const void*>(&__kmpc_omp_task_with_deps);
#else
    return reinterpret_cast<const void*>(&GOMP_task);
#endif
}

} // namespace

extern "C" __attribute__((visibility("default"))) const TrcOpenMp trc_openmp_v1;
const TrcOpenMp trc_openmp_v1 = {trencadis::openmp_module_version,
                                 TRC_COMPILER,
#ifdef TRC_HAS_INOUTSET
                                 1,
#else
                                 0,
#endif
                                 entry,
                                 parallel,
                                 submit,
                                 wait,
                                 wait_for,
                                 omp_get_level,
                                 omp_get_thread_limit,
                                 omp_get_max_task_priority};
