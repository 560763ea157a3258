/* What Argobots lacks: taking a unit off its stream until somebody of ours wakes it, or until a time. Its own waits with a limit
 * turn on a core.
 *
 * A waiter lies on the stack of who waits, in the list of what it waits for (a gate, or none) and, with a limit, in the list of
 * timers. Who opens the gate, who finds the time over and who cancels the unit race for its `state`; the winner takes it out of
 * both lists and then wakes it, so that a unit that was cancelled meanwhile, which never runs again, leaves nothing behind.
 *
 * Who opens the gate leaves a waiter with another winner where it is, and wakes the others, one of which may free the gate at
 * once. So the other winners count themselves before they race and hold a lock until they are through with the gate; who frees
 * one and sees the count takes that lock once. Who lost has seen the state of the winner (acquire), and its count with it. Locks:
 * that one, the gate's, then the timers' or the unit's. */
#ifndef TRENCADIS_GLT_ARGOBOTS_WAIT_H
#define TRENCADIS_GLT_ARGOBOTS_WAIT_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GLT_ARGOBOTS_WAITS = 0, GLT_ARGOBOTS_OPENED = 1, GLT_ARGOBOTS_LATE = 2, GLT_ARGOBOTS_CANCELLED = 3 };

struct glt_argobots_waiter {
    struct glt_argobots_waiter *before, *after; /* in the gate */
    struct glt_argobots_waiter *sooner, *later; /* among the timers, in no order */
    struct glt_argobots_waiter* next;           /* of those to be woken together */
    struct glt_argobots_gate* gate;             /* or null */
    ABT_thread unit;                            /* null: a foreign thread, which sleeps on `state` */
    double deadline;                            /* 0: none */
    uint32_t state;
};

struct glt_argobots_gate {
    long value; /* becomes 0 under the lock only, otherwise atomic; see gate.h */
    uint32_t lock;
    struct glt_argobots_waiter *first, *last;
};

struct glt_argobots_timers {
    uint32_t lock, count;
    double earliest; /* no deadline is before it; written under the lock */
    struct glt_argobots_waiter* first;
};

GLT_SHARED_VARIABLE struct glt_argobots_timers glt_argobots_timers;
GLT_SHARED_VARIABLE uint32_t glt_argobots_leave_lock, glt_argobots_leavers;

static inline void glt_argobots_begin_leaving(void)
{
    __atomic_fetch_add(&glt_argobots_leavers, 1, __ATOMIC_SEQ_CST);
    glt_shared_lock(&glt_argobots_leave_lock);
}

static inline void glt_argobots_end_leaving(void)
{
    glt_shared_unlock(&glt_argobots_leave_lock);
    __atomic_fetch_sub(&glt_argobots_leavers, 1, __ATOMIC_RELEASE);
}

/* Before a gate is freed. */
static inline void glt_argobots_await_leavers(void)
{
    if (__builtin_expect(__atomic_load_n(&glt_argobots_leavers, __ATOMIC_SEQ_CST) == 0, 1)) return;
    glt_shared_lock(&glt_argobots_leave_lock);
    glt_shared_unlock(&glt_argobots_leave_lock);
}

/* Makes a unit ready that is blocked, or runs on another thread towards ABT_self_suspend whatever this one does; that thread may
 * have lost its core. */
GLT_SHARED_APART int glt_argobots_unblock(ABT_thread unit)
{
    ABT_thread_state state = ABT_THREAD_STATE_RUNNING;
    int error;
    for (int tries = 0; ABT_thread_get_state(unit, &state) == ABT_SUCCESS && state != ABT_THREAD_STATE_BLOCKED &&
                        state != ABT_THREAD_STATE_TERMINATED;
         ++tries) {
        if (tries < 100) glt_shared_pause();
        else glt_shared_sched_yield();
    }
    error = ABT_thread_resume(unit);
    glt_argobots_pushed(glt_argobots_near());
    return error;
}

static inline void glt_argobots_gate_put(struct glt_argobots_waiter* waiter)
{
    struct glt_argobots_gate* gate = waiter->gate;
    waiter->after = NULL;
    waiter->before = gate->last;
    if (gate->last) gate->last->after = waiter;
    else gate->first = waiter;
    gate->last = waiter;
}

static inline void glt_argobots_gate_take(struct glt_argobots_waiter* waiter)
{
    struct glt_argobots_gate* gate = waiter->gate;
    if (waiter->before) waiter->before->after = waiter->after;
    else gate->first = waiter->after;
    if (waiter->after) waiter->after->before = waiter->before;
    else gate->last = waiter->before;
}

/* By a leaver that has won the waiter. */
static inline void glt_argobots_leave_gate(struct glt_argobots_waiter* waiter)
{
    if (!waiter->gate) return;
    glt_shared_lock(&waiter->gate->lock);
    glt_argobots_gate_take(waiter);
    glt_shared_unlock(&waiter->gate->lock);
}

static inline void glt_argobots_timer_put(struct glt_argobots_waiter* waiter)
{
    struct glt_argobots_timers* timers = &glt_argobots_timers;
    double none = 0;
    glt_shared_lock(&timers->lock);
    waiter->sooner = NULL;
    waiter->later = timers->first;
    if (timers->first) timers->first->sooner = waiter;
    timers->first = waiter;
    __atomic_load(&timers->earliest, &none, __ATOMIC_RELAXED);
    if (timers->count == 0 || waiter->deadline < none) __atomic_store(&timers->earliest, &waiter->deadline, __ATOMIC_RELAXED);
    __atomic_store_n(&timers->count, timers->count + 1, __ATOMIC_RELEASE);
    glt_shared_unlock(&timers->lock);
}

/* Takes a waiter out of the list. The caller has the timers' lock. */
static inline void glt_argobots_timer_unlink(struct glt_argobots_waiter* waiter)
{
    struct glt_argobots_timers* timers = &glt_argobots_timers;
    if (waiter->sooner) waiter->sooner->later = waiter->later;
    else timers->first = waiter->later;
    if (waiter->later) waiter->later->sooner = waiter->sooner;
    __atomic_store_n(&timers->count, timers->count - 1, __ATOMIC_RELEASE);
}

static inline int glt_argobots_win(struct glt_argobots_waiter* waiter, uint32_t state)
{
    uint32_t waits = GLT_ARGOBOTS_WAITS;
    return __atomic_compare_exchange_n(&waiter->state, &waits, state, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Wakes all whose time is over: those timers are units, foreign threads look at the clock themselves. */
GLT_SHARED_APART void glt_argobots_fire(double now)
{
    struct glt_argobots_timers* timers = &glt_argobots_timers;
    struct glt_argobots_waiter *late = NULL, *after;
    double earliest = now + 1e9;
    glt_argobots_begin_leaving();
    glt_shared_lock(&timers->lock);
    for (struct glt_argobots_waiter* waiter = timers->first; waiter; waiter = after) {
        after = waiter->later;
        if (waiter->deadline > now) {
            if (waiter->deadline < earliest) earliest = waiter->deadline;
        } else if (glt_argobots_win(waiter, GLT_ARGOBOTS_LATE)) {
            glt_argobots_timer_unlink(waiter);
            waiter->next = late;
            late = waiter;
        }
    }
    __atomic_store(&timers->earliest, &earliest, __ATOMIC_RELAXED);
    glt_shared_unlock(&timers->lock);
    for (struct glt_argobots_waiter* waiter = late; waiter; waiter = waiter->next) glt_argobots_leave_gate(waiter);
    glt_argobots_end_leaving();
    while (late) {
        struct glt_argobots_waiter* waiter = late;
        late = waiter->next;
        glt_argobots_unblock(waiter->unit);
    }
}

/* By the schedulers, now and then: the seconds until the next timer, at most `most`; fires those whose time is over. */
static inline double glt_argobots_until_timer(double most)
{
    double now, earliest;
    if (__atomic_load_n(&glt_argobots_timers.count, __ATOMIC_ACQUIRE) == 0) return most;
    now = glt_shared_now();
    __atomic_load(&glt_argobots_timers.earliest, &earliest, __ATOMIC_RELAXED);
    if (earliest <= now) {
        glt_argobots_fire(now);
        return 0;
    }
    return earliest - now < most ? earliest - now : most;
}

static inline int glt_argobots_may_wait(const char* caller)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    ABT_self_get_type(&type);
    if (type != ABT_UNIT_TYPE_TASK) return GLT_SUCCESS;
    return glt_shared_report(GLT_ERROR_CONTEXT, "%s: a tasklet may not wait; use a ULT", caller);
}

/* The caller, not a tasklet, rests for some time. */
static inline void glt_argobots_rest(double seconds)
{
    struct glt_argobots_waiter waiter;
    memset(&waiter, 0, sizeof waiter);
    ABT_self_get_thread(&waiter.unit);
    if (!waiter.unit) {
        glt_shared_futex_wait(&waiter.state, GLT_ARGOBOTS_WAITS, seconds);
        return;
    }
    waiter.deadline = glt_shared_now() + seconds;
    glt_argobots_timer_put(&waiter);
    GLT_SHARED_SWITCH(ABT_self_suspend());
}

/* A step of looking for something again and again, counted from 0. */
static inline void glt_argobots_poll(unsigned step, double left)
{
    double rest = 1e-5 * (double)(step < 100 ? step : 100);
    if (step < 16) GLT_SHARED_SWITCH(ABT_thread_yield());
    else glt_argobots_rest(rest < left ? rest : left);
}

#ifdef __cplusplus
}
#endif

#endif
