/* The sleeping idle policies: one unit per shepherd that looks whether anything else is ready there, and sleeps if not. */
#ifndef TRENCADIS_GLT_QTHREADS_IDLE_H
#define TRENCADIS_GLT_QTHREADS_IDLE_H

#include "../shared/wait.h"

#ifdef __cplusplus
extern "C" {
#endif

struct glt_qthreads_idle {
    uint32_t sleepers;            /* threads asleep or about to be: idle shepherds, and units in waits with a limit */
    uint32_t epoch;               /* what they sleep on, counted up by each wake */
    int polling[GLT_MAX_THREADS]; /* units per shepherd that only look whether something has come; of that shepherd alone */
    uint32_t stop;
    uint32_t units; /* not ended yet */
    double spin_s;  /* how long a shepherd turns before it sleeps */
};

GLT_SHARED_VARIABLE struct glt_qthreads_idle glt_qthreads_idle;

GLT_SHARED_APART void glt_qthreads_wake_all(void)
{
    __atomic_fetch_add(&glt_qthreads_idle.epoch, 1, __ATOMIC_SEQ_CST);
    glt_shared_futex_wake(&glt_qthreads_idle.epoch, INT_MAX);
}

/* After something became ready. The library counts the queue up by an atomic instruction before, the sleeper counts itself before
 * it looks at the queue: in one order of both, either it sees the unit or we see it. Where that instruction were no full barrier
 * the sleeper's limit of time would end the sleep. */
static inline void glt_qthreads_wake_idle(void)
{
    if (__builtin_expect(__atomic_load_n(&glt_qthreads_idle.sleepers, __ATOMIC_SEQ_CST) != 0, 0)) glt_qthreads_wake_all();
}

/* BUSYNESS is the length of this shepherd's queue, without the running unit, and 1. Those that only look do not count. */
static inline int glt_qthreads_alone(void)
{
    int own = (int16_t)qthread_shep();
    return own < 0 ||
           (long)qthread_readstate(BUSYNESS) <= (glt_qthreads_idle.polling[own] > 1 ? glt_qthreads_idle.polling[own] : 1);
}

/* While nothing is ready on this shepherd and none of the bits is set. */
GLT_SHARED_APART void glt_qthreads_sleep(const uint32_t* word, uint32_t bits, double seconds)
{
    struct glt_qthreads_idle* idle = &glt_qthreads_idle;
    uint32_t epoch = __atomic_load_n(&idle->epoch, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&idle->sleepers, 1, __ATOMIC_SEQ_CST);
    if (glt_qthreads_alone() && !(__atomic_load_n(word, __ATOMIC_SEQ_CST) & bits))
        glt_shared_futex_wait(&idle->epoch, epoch, seconds);
    __atomic_fetch_sub(&idle->sleepers, 1, __ATOMIC_SEQ_CST);
}

GLT_SHARED_APART aligned_t glt_qthreads_idle_unit(void* unused)
{
    struct glt_qthreads_idle* idle = &glt_qthreads_idle;
    double alone_since = -1;
    int own = (int16_t)qthread_shep();
    (void)unused;
    ++idle->polling[own];
    while (!__atomic_load_n(&idle->stop, __ATOMIC_ACQUIRE)) {
        qthread_yield_(0);
        if (!glt_qthreads_alone()) {
            alone_since = -1;
        } else if (idle->spin_s == 0) {
            glt_qthreads_sleep(&idle->stop, 1, 0.01);
        } else {
            double now = glt_shared_now();
            if (alone_since < 0) alone_since = now;
            if (now - alone_since > idle->spin_s) glt_qthreads_sleep(&idle->stop, 1, 0.01);
        }
    }
    --idle->polling[own];
    __atomic_fetch_sub(&idle->units, 1, __ATOMIC_RELEASE);
    return 0;
}

static inline void glt_qthreads_idle_start(int policy, int num_threads)
{
    struct glt_qthreads_idle* idle = &glt_qthreads_idle;
    idle->sleepers = idle->stop = idle->units = 0;
    idle->spin_s = policy == GLT_IDLE_SLEEP ? 0 : 50e-6;
    memset(idle->polling, 0, sizeof idle->polling);
    if (policy == GLT_IDLE_SPIN) return;
    for (int i = 0; i < num_threads; ++i)
        if (qthread_fork_to(glt_qthreads_idle_unit, NULL, NULL, (qthread_shepherd_id_t)i) == QTHREAD_SUCCESS)
            __atomic_fetch_add(&idle->units, 1, __ATOMIC_RELAXED);
}

static inline void glt_qthreads_idle_stop(void)
{
    struct glt_qthreads_idle* idle = &glt_qthreads_idle;
    __atomic_store_n(&idle->stop, 1, __ATOMIC_RELEASE);
    glt_qthreads_wake_all();
    while (__atomic_load_n(&idle->units, __ATOMIC_ACQUIRE) != 0) qthread_yield_(0);
}

#ifdef __cplusplus
}
#endif

#endif
