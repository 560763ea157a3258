/* The benchmarks are written once, against the few operations below, and compiled against each contestant: the same algorithm
 * in the same shape, with nothing between it and the library but these inline functions. Each face defines
 *
 *   LWT_LIBRARY, LWT_FORM             "argobots", "direct"; functions for GLT, which knows when it has started
 *   LWT_RESULT, LWT_RETURN            what a unit's function returns as its library wants it, and how
 *   LwtUlt, LwtTasklet                handles
 *   lwt_begin(threads), lwt_end()     by the main program; begin says 0 if the library runs on that many threads
 *   lwt_ult_create(f, arg, &ult)      in the caller's own queue;  lwt_ult_create_to(..., thread) in that thread's
 *   lwt_ult_join(&ult)                waits and gives the unit's memory back
 *   lwt_tasklet_...                   likewise; where the library has none, a ULT
 *   lwt_yield()
 *   LwtMutex, lwt_mutex_create(&m), lwt_mutex_lock(&m), lwt_mutex_trylock(&m) (1: taken), lwt_mutex_unlock(&m),
 *   lwt_mutex_free(&m)
 *   lwt_steals()                      idle threads take units from others: work needs not be dealt out
 *
 * A batch of units that are waited for together (LwtBatch and lwt_batch_...) is an array of handles, unless a face has a cheaper
 * way and says so by LWT_BATCH.
 *
 * LWT_DIRECT names the library a program uses without GLT; otherwise it is a GLT program of the form GLT_STATIC says. All
 * contestants get the same stack size, and by lwt_start each thread is bound to a core of its own where there are as many: two
 * threads that begin on one core would be the system's doing and not the library's. What idle threads do is each one's standard.
 */
#ifndef TRENCADIS_BENCHMARKS_FACE_H
#define TRENCADIS_BENCHMARKS_FACE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LWT_STACK_SIZE 65536
#define LWT_STACK_TEXT "65536"

#define LWT_TEXT_(x) #x
#define LWT_TEXT(x) LWT_TEXT_(x)
#ifdef LWT_DIRECT
/* clang-format off */
#define LWT_HEADER(library) LWT_TEXT(faces/library.h)
/* clang-format on */
#include LWT_HEADER(LWT_DIRECT)
#else
#include "faces/glt.h"
#endif

static cpu_set_t lwt_cores;
static int lwt_parties;
static atomic_int lwt_present;

/* On each thread at once, since none of them yields before all are there. */
static LWT_RESULT lwt_bind(void* unused)
{
    const int number = atomic_fetch_add(&lwt_present, 1);
    cpu_set_t mine;
    (void)unused;
    while (atomic_load(&lwt_present) < lwt_parties) sched_yield();
    CPU_ZERO(&mine);
    for (int core = 0, left = number; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &lwt_cores) && left-- == 0) CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    LWT_RETURN;
}

/* Does what lwt_begin does, and binds the threads. */
static inline int lwt_start(int threads)
{
    LwtUlt* ults = (LwtUlt*)calloc((size_t)threads, sizeof *ults);
    const int cores = sched_getaffinity(0, sizeof lwt_cores, &lwt_cores) == 0 ? CPU_COUNT(&lwt_cores) : 0;
    const int status = ults ? lwt_begin(threads) : -1;
    if (status == 0 && threads <= cores) {
        lwt_parties = threads;
        for (int i = 0; i < threads; ++i) lwt_ult_create_to(lwt_bind, NULL, &ults[i], i);
        for (int i = 0; i < threads; ++i) lwt_ult_join(&ults[i]);
    }
    free(ults);
    return status;
}

/* Where work is dealt out because nobody steals, `turn` says whose it is; elsewhere the queue of the caller is right. */
static inline void lwt_ult_deal(LWT_RESULT (*function)(void*), void* argument, LwtUlt* ult, unsigned turn, int threads)
{
    if (lwt_steals()) lwt_ult_create(function, argument, ult);
    else lwt_ult_create_to(function, argument, ult, (int)(turn % (unsigned)threads));
}

static inline void lwt_tasklet_deal(LWT_RESULT (*function)(void*), void* argument, LwtTasklet* tasklet, unsigned turn,
                                    int threads)
{
    if (lwt_steals()) lwt_tasklet_create(function, argument, tasklet);
    else lwt_tasklet_create_to(function, argument, tasklet, (int)(turn % (unsigned)threads));
}

#ifndef LWT_BATCH
typedef struct LwtBatch {
    LwtUlt* ults;
    LwtTasklet* tasklets;
    int capacity;
} LwtBatch;

/* For at most `capacity` units at a time. 0, or -1 without memory. */
static inline int lwt_batch_begin(LwtBatch* batch, int capacity)
{
    batch->capacity = capacity;
    batch->ults = (LwtUlt*)calloc((size_t)capacity, sizeof *batch->ults);
    batch->tasklets = (LwtTasklet*)calloc((size_t)capacity, sizeof *batch->tasklets);
    return batch->ults && batch->tasklets ? 0 : -1;
}

static inline void lwt_batch_end(LwtBatch* batch)
{
    free(batch->ults);
    free(batch->tasklets);
}

/* Before the first of `count` units. */
static inline void lwt_batch_expect(LwtBatch* batch, int count)
{
    (void)batch;
    (void)count;
}

static inline void lwt_batch_ult(LwtBatch* batch, int i, LWT_RESULT (*function)(void*))
{
    lwt_ult_create(function, NULL, &batch->ults[i]);
}

static inline void lwt_batch_ult_to(LwtBatch* batch, int i, LWT_RESULT (*function)(void*), int thread)
{
    lwt_ult_create_to(function, NULL, &batch->ults[i], thread);
}

static inline void lwt_batch_tasklet(LwtBatch* batch, int i, LWT_RESULT (*function)(void*))
{
    lwt_tasklet_create(function, NULL, &batch->tasklets[i]);
}

static inline void lwt_batch_join_ults(LwtBatch* batch, int count)
{
    for (int i = 0; i < count; ++i) lwt_ult_join(&batch->ults[i]);
}

static inline void lwt_batch_join_tasklets(LwtBatch* batch, int count)
{
    for (int i = 0; i < count; ++i) lwt_tasklet_join(&batch->tasklets[i]);
}
#endif

#endif
