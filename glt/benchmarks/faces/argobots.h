/* Argobots as its own examples use it: an execution stream per thread with a pool of its own, units put into the pool of one's
 * rank. With its stealing pools and scheduler, or, with LWT_ARGOBOTS=private in the environment, with queues that nobody steals
 * from. */
#include <abt.h>

#include <stdlib.h>
#include <string.h>

#define LWT_LIBRARY "argobots"
#define LWT_FORM "direct"
#define LWT_RESULT void
#define LWT_RETURN return

typedef ABT_thread LwtUlt;
typedef ABT_task LwtTasklet;

static ABT_xstream* lwt_streams;
static ABT_pool* lwt_pools;
static int lwt_threads, lwt_is_private;

/* The scheduler of stream i: its own pool first, then the others', of which it takes one at random. */
static inline int lwt_scheduler(int i, ABT_sched* scheduler)
{
    ABT_pool order[4096];
    const int pools = lwt_is_private ? 1 : lwt_threads;
    for (int k = 0; k < pools; ++k) order[k] = lwt_pools[(i + k) % lwt_threads];
    return ABT_sched_create_basic(lwt_is_private ? ABT_SCHED_DEFAULT : ABT_SCHED_RANDWS, pools, order, ABT_SCHED_CONFIG_NULL,
                                  scheduler);
}

static inline int lwt_begin(int threads)
{
    setenv("ABT_THREAD_STACKSIZE", LWT_STACK_TEXT, 1);
    setenv("ABT_SET_AFFINITY", "no", 1);
    const char* kind = getenv("LWT_ARGOBOTS");
    ABT_sched scheduler;
    int status = ABT_init(0, NULL);
    lwt_threads = threads;
    lwt_is_private = kind && strcmp(kind, "private") == 0;
    lwt_streams = (ABT_xstream*)malloc((size_t)threads * sizeof *lwt_streams);
    lwt_pools = (ABT_pool*)malloc((size_t)threads * sizeof *lwt_pools);
    if (status != ABT_SUCCESS || !lwt_streams || !lwt_pools) return -1;
    for (int i = 0; i < threads && status == ABT_SUCCESS; ++i)
        status = ABT_pool_create_basic(lwt_is_private ? ABT_POOL_FIFO : ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE,
                                       &lwt_pools[i]);
    if (status == ABT_SUCCESS) status = ABT_xstream_self(&lwt_streams[0]);
    if (status == ABT_SUCCESS) status = lwt_scheduler(0, &scheduler);
    if (status == ABT_SUCCESS) status = ABT_xstream_set_main_sched(lwt_streams[0], scheduler);
    for (int i = 1; i < threads && status == ABT_SUCCESS; ++i) {
        status = lwt_scheduler(i, &scheduler);
        if (status == ABT_SUCCESS) status = ABT_xstream_create(scheduler, &lwt_streams[i]);
    }
    return status;
}

static inline void lwt_end(void)
{
    for (int i = 1; i < lwt_threads; ++i) {
        ABT_xstream_join(lwt_streams[i]);
        ABT_xstream_free(&lwt_streams[i]);
    }
    ABT_finalize();
    free(lwt_streams);
    free(lwt_pools);
}

static inline ABT_pool lwt_own_pool(void)
{
    int rank = 0;
    ABT_xstream_self_rank(&rank);
    return lwt_pools[rank];
}

static inline int lwt_steals(void) { return !lwt_is_private; }
static inline void lwt_yield(void) { ABT_thread_yield(); }

static inline void lwt_ult_create_to(void (*function)(void*), void* argument, LwtUlt* ult, int thread)
{
    ABT_thread_create(lwt_pools[thread], function, argument, ABT_THREAD_ATTR_NULL, ult);
}
static inline void lwt_ult_create(void (*function)(void*), void* argument, LwtUlt* ult)
{
    ABT_thread_create(lwt_own_pool(), function, argument, ABT_THREAD_ATTR_NULL, ult);
}
static inline void lwt_ult_join(LwtUlt* ult) { ABT_thread_free(ult); }

static inline void lwt_tasklet_create_to(void (*function)(void*), void* argument, LwtTasklet* tasklet, int thread)
{
    ABT_task_create(lwt_pools[thread], function, argument, tasklet);
}
static inline void lwt_tasklet_create(void (*function)(void*), void* argument, LwtTasklet* tasklet)
{
    ABT_task_create(lwt_own_pool(), function, argument, tasklet);
}
static inline void lwt_tasklet_join(LwtTasklet* tasklet) { ABT_task_free(tasklet); }

typedef ABT_mutex LwtMutex;
static inline void lwt_mutex_create(LwtMutex* mutex) { ABT_mutex_create(mutex); }
static inline void lwt_mutex_lock(LwtMutex* mutex) { ABT_mutex_lock(*mutex); }
static inline int lwt_mutex_trylock(LwtMutex* mutex) { return ABT_mutex_trylock(*mutex) == ABT_SUCCESS; }
static inline void lwt_mutex_unlock(LwtMutex* mutex) { ABT_mutex_unlock(*mutex); }
static inline void lwt_mutex_free(LwtMutex* mutex) { ABT_mutex_free(mutex); }
