/* The scheduler of an execution stream. It takes from its two pools by turns, so that neither starves the other, then steals,
 * then does what the idle policy says. It sleeps in its strict pool, where Argobots' own pushes (a join that is over, an unlocked
 * mutex) wake it; a push into an open pool wakes it through glt_argobots_wake, or is found when it looks again, some milliseconds
 * later. */
#ifndef TRENCADIS_GLT_ARGOBOTS_SCHEDULER_H
#define TRENCADIS_GLT_ARGOBOTS_SCHEDULER_H

#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Units from one pool while there are some in the other. Few of the strict one: a join of a tasklet yields until it has run, and
 * the main program, which is there, would only take turns with itself. */
#define GLT_ARGOBOTS_OPEN_IN_A_ROW 8
#define GLT_ARGOBOTS_STRICT_IN_A_ROW 2
#define GLT_ARGOBOTS_SPIN 1e-4        /* seconds that GLT_IDLE_SPIN_SLEEP turns before it sleeps */
#define GLT_ARGOBOTS_SHORT_SLEEP 5e-4 /* the first sleep; each one after it is twice as long, */
#define GLT_ARGOBOTS_LONG_SLEEP 4e-3  /* up to this times (1 + threads / 8), so that many sleepers cost no more than a few */

static inline ABT_thread glt_argobots_pop(ABT_pool pool)
{
    ABT_thread unit = ABT_THREAD_NULL;
    ABT_pool_pop_thread(pool, &unit);
    return unit;
}

static inline ABT_thread glt_argobots_steal(struct glt_argobots_stream* me)
{
    int number = glt_argobots.num_threads, own = (int)(me - glt_argobots.streams);
    ABT_thread unit = ABT_THREAD_NULL;
    me->seed = me->seed * 1664525u + 1013904223u;
    for (int i = 0, victim = (int)((uint64_t)me->seed * (uint64_t)number >> 32); i < number; ++i, ++victim) {
        if (victim >= number) victim = 0;
        if (victim == own) continue;
        ABT_pool_pop_thread_ex(glt_argobots.streams[victim].open, &unit, ABT_POOL_CONTEXT_OWNER_SECONDARY);
        if (unit != ABT_THREAD_NULL) break;
    }
    return unit;
}

/* Stays with the pool that had something, for some units, and then looks into the other first. */
static inline ABT_thread glt_argobots_take(struct glt_argobots_stream* me)
{
    int open = me->turn < GLT_ARGOBOTS_OPEN_IN_A_ROW;
    ABT_thread unit = glt_argobots_pop(open ? me->open : me->strict);
    if (__builtin_expect(unit != ABT_THREAD_NULL, 1)) {
        me->turn = (me->turn + 1) % (GLT_ARGOBOTS_OPEN_IN_A_ROW + GLT_ARGOBOTS_STRICT_IN_A_ROW);
        return unit;
    }
    me->turn = open ? GLT_ARGOBOTS_OPEN_IN_A_ROW : 0;
    unit = glt_argobots_pop(open ? me->strict : me->open);
    return unit != ABT_THREAD_NULL ? unit : glt_argobots_steal(me);
}

/* Sleeps for `seconds` at most; answers with what woke it, if that was a unit. */
static inline ABT_thread glt_argobots_sleep(struct glt_argobots_stream* me, double seconds)
{
    ABT_thread unit;
    __atomic_store_n(&me->asleep, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&glt_argobots.sleepers, 1, __ATOMIC_SEQ_CST);
    unit = glt_argobots_take(me); /* whoever pushed before the line above did not wake us */
    if (unit == ABT_THREAD_NULL) ABT_pool_pop_wait_thread(me->strict, &unit, seconds);
    if (__atomic_exchange_n(&me->asleep, 0, __ATOMIC_ACQ_REL)) __atomic_fetch_sub(&glt_argobots.sleepers, 1, __ATOMIC_RELAXED);
    return unit;
}

/* glt_finalize is at work: it sees from `looking` that the stream has nothing to do. */
static inline void glt_argobots_nap(struct glt_argobots_stream* me)
{
    uint32_t nothing = 0;
    __atomic_store_n(&me->looking, 0, __ATOMIC_SEQ_CST);
    glt_shared_futex_wait(&nothing, 0, 5e-5 * (1 + glt_argobots.num_threads / 8));
    __atomic_store_n(&me->looking, 1, __ATOMIC_SEQ_CST);
}

struct glt_argobots_idleness {
    unsigned looks; /* without success */
    double since, sleep;
};

/* After an empty look; answers with a unit if one came while it slept. */
GLT_SHARED_APART ABT_thread glt_argobots_idle(struct glt_argobots_stream* me, struct glt_argobots_idleness* idle)
{
    int policy = glt_argobots.environment.idle;
    double longest = GLT_ARGOBOTS_LONG_SLEEP * (1 + glt_argobots.num_threads / 8);
    double most = glt_argobots_until_timer(longest);
    ABT_thread unit = ABT_THREAD_NULL;
    if (most == 0) return unit;
    if (++idle->looks == 1) {
        idle->since = policy == GLT_IDLE_SPIN_SLEEP ? glt_shared_now() : 0;
        idle->sleep = GLT_ARGOBOTS_SHORT_SLEEP;
    }
    if (__atomic_load_n(&glt_argobots.draining, __ATOMIC_ACQUIRE)) {
        glt_argobots_nap(me);
    } else if (policy == GLT_IDLE_SPIN || (policy == GLT_IDLE_SPIN_SLEEP && glt_shared_now() - idle->since < GLT_ARGOBOTS_SPIN)) {
        for (int i = 0; i < 32; ++i) glt_shared_pause();
        if (idle->looks % 16 == 0) glt_shared_sched_yield(); /* there may be more threads than cores */
    } else {
        unit = glt_argobots_sleep(me, idle->sleep < most ? idle->sleep : most);
        idle->sleep = idle->sleep * 2 < longest ? idle->sleep * 2 : longest;
    }
    return unit;
}

static inline void glt_argobots_bind(int cpu)
{
    unsigned char mask[2048] = {0};
    if (cpu >= 8 * (int)sizeof mask) return;
    mask[cpu / 8] = (unsigned char)(1u << (cpu % 8));
    glt_shared_syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

static inline void glt_argobots_unbind(void)
{
    const struct glt_shared_environment* environment = &glt_argobots.environment;
    unsigned char mask[2048] = {0};
    for (int i = 0; i < environment->num_cpus; ++i)
        mask[environment->cpu[i] / 8] |= (unsigned char)(1u << (environment->cpu[i] % 8));
    glt_shared_syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

/* Runs until Argobots asks the stream to finish; that is only in glt_finalize, when nothing is ready any more. */
GLT_SHARED_APART void glt_argobots_run(ABT_sched scheduler)
{
    struct glt_argobots_idleness idle = {0, 0, 0};
    int rank = glt_argobots_rank();
    struct glt_argobots_stream* me = &glt_argobots.streams[rank];
    ABT_bool stop = ABT_FALSE;
    if (glt_argobots.environment.bind) glt_argobots_bind(glt_argobots.environment.cpu[rank % glt_argobots.environment.num_cpus]);
    for (unsigned turn = 0; !stop; ++turn) {
        ABT_thread unit = glt_argobots_take(me);
        if (turn % 64 == 0) glt_argobots_until_timer(0);
        if (unit == ABT_THREAD_NULL) {
            ABT_xstream_check_events(scheduler);
            ABT_sched_has_to_stop(scheduler, &stop);
            if (!stop) unit = glt_argobots_idle(me, &idle);
        }
        if (unit != ABT_THREAD_NULL) {
            idle.looks = 0;
            __atomic_store_n(&me->begun, me->begun + 1, __ATOMIC_RELEASE);
            ABT_self_schedule(unit, ABT_POOL_NULL);
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
