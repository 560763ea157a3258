/* Counters and events: a number that is waited for. A counter waits for 0; an event is 1 until it is set, then 0.
 *
 * The number becomes 0 under the lock only, and every wait that returns has held the lock since or was woken by who did: whoever
 * waited may free the gate at once, since who opened it does not touch it any more, and for those whose wait ends otherwise the
 * free waits (wait.h). */
#ifndef TRENCADIS_GLT_ARGOBOTS_GATE_H
#define TRENCADIS_GLT_ARGOBOTS_GATE_H

#include "wait.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

GLT_SHARED_APART int glt_argobots_gate_create(const char* caller, long value, struct glt_argobots_gate** gate)
{
    if (!gate) return glt_shared_no_place(caller);
    *gate = NULL;
    if (!glt_initialized()) return glt_shared_null(caller); /* which says so */
    *gate = (struct glt_argobots_gate*)calloc(1, sizeof **gate);
    if (!*gate) return glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory", caller);
    (*gate)->value = value;
    return GLT_SUCCESS;
}

static inline int glt_argobots_gate_free(const char* caller, struct glt_argobots_gate** gate)
{
    if (!gate || !*gate) return glt_shared_null(caller);
    glt_argobots_await_leavers();
    free(*gate);
    *gate = NULL;
    return GLT_SUCCESS;
}

/* With the lock, the value being 0: those to be woken, out of all lists. */
static inline struct glt_argobots_waiter* glt_argobots_gate_all(struct glt_argobots_gate* gate)
{
    struct glt_argobots_waiter *woken = NULL, **last = &woken, *after;
    for (struct glt_argobots_waiter* waiter = gate->first; waiter; waiter = after) {
        after = waiter->after;
        if (!glt_argobots_win(waiter, GLT_ARGOBOTS_OPENED)) continue; /* too late: who found the time over takes it out */
        glt_argobots_gate_take(waiter);
        if (waiter->unit && waiter->deadline > 0) {
            glt_shared_lock(&glt_argobots_timers.lock);
            glt_argobots_timer_unlink(waiter);
            glt_shared_unlock(&glt_argobots_timers.lock);
        }
        waiter->next = NULL;
        *last = waiter;
        last = &waiter->next;
    }
    return woken;
}

#define GLT_ARGOBOTS_NO_MORE_WAITS ((void*)1) /* the unit was cancelled */

/* The unit's waiter, or NULL, becomes known to who cancels it. 0 when it was cancelled before. */
GLT_SHARED_APART int glt_argobots_show_waiter(struct glt_argobots_waiter* waiter, struct glt_argobots_waiter* shown)
{
    void* word = NULL;
    uint32_t* lock = glt_argobots_lock_of(waiter->unit);
    glt_shared_lock(lock);
    ABT_self_get_specific(glt_argobots.waiting, &word);
    if (word != GLT_ARGOBOTS_NO_MORE_WAITS) ABT_self_set_specific(glt_argobots.waiting, shown);
    glt_shared_unlock(lock);
    return word != GLT_ARGOBOTS_NO_MORE_WAITS;
}

/* Ends the wait at a gate of a unit that was cancelled; 0 when it does not wait at one. Argobots ends the unit as soon as it
 * would run. */
GLT_SHARED_APART int glt_argobots_end_wait(ABT_thread unit)
{
    void* word = NULL;
    struct glt_argobots_waiter* waiter;
    uint32_t* lock = glt_argobots_lock_of(unit);
    glt_argobots_begin_leaving();
    glt_shared_lock(lock);
    ABT_thread_get_specific(unit, glt_argobots.waiting, &word);
    ABT_thread_set_specific(unit, glt_argobots.waiting, GLT_ARGOBOTS_NO_MORE_WAITS);
    waiter = word == GLT_ARGOBOTS_NO_MORE_WAITS ? NULL : (struct glt_argobots_waiter*)word;
    if (waiter && !glt_argobots_win(waiter, GLT_ARGOBOTS_CANCELLED)) waiter = NULL;
    glt_shared_unlock(lock);
    if (waiter) glt_argobots_leave_gate(waiter);
    glt_argobots_end_leaving();
    if (!waiter) return 0;
    if (waiter->deadline > 0) {
        glt_shared_lock(&glt_argobots_timers.lock);
        glt_argobots_timer_unlink(waiter);
        glt_shared_unlock(&glt_argobots_timers.lock);
    }
    glt_argobots_unblock(unit);
    return 1;
}

/* Without the lock. A foreign thread goes on as soon as it sees the state; only its address is used after that. */
static inline void glt_argobots_wake_waiters(struct glt_argobots_waiter* woken)
{
    while (woken) {
        struct glt_argobots_waiter* waiter = woken;
        woken = waiter->next;
        if (waiter->unit) {
            glt_argobots_unblock(waiter->unit);
        } else {
            __atomic_store_n(&waiter->state, GLT_ARGOBOTS_OPENED | 4, __ATOMIC_RELEASE);
            glt_shared_futex_wake(&waiter->state, 1);
        }
    }
}

/* A foreign thread: sleeps until it was woken, or gives up. */
static inline int glt_argobots_gate_sleep(struct glt_argobots_waiter* waiter)
{
    uint32_t state;
    while ((state = __atomic_load_n(&waiter->state, __ATOMIC_ACQUIRE)) != (GLT_ARGOBOTS_OPENED | 4)) {
        double left = waiter->deadline > 0 ? waiter->deadline - glt_shared_now() : -1;
        if (waiter->deadline > 0 && left <= 0) {
            int late;
            glt_argobots_begin_leaving();
            late = glt_argobots_win(waiter, GLT_ARGOBOTS_LATE);
            if (late) glt_argobots_leave_gate(waiter);
            glt_argobots_end_leaving();
            if (late) return GLT_TIMEOUT;
        }
        glt_shared_futex_wait(&waiter->state, state, left > 0 || waiter->deadline == 0 ? left : 1);
    }
    return GLT_SUCCESS;
}

GLT_SHARED_APART int glt_argobots_gate_wait(const char* caller, struct glt_argobots_gate* gate, int limited, double seconds)
{
    struct glt_argobots_waiter waiter;
    int status = GLT_SUCCESS, open, cancelled = 0;
    if (__builtin_expect(!gate, 0)) return glt_shared_null(caller);
    if (limited && !(seconds >= 0))
        return glt_shared_report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", caller, seconds);
    if (__atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) != 0 && !(limited && seconds == 0))
        status = glt_argobots_may_wait(caller);
    if (status != GLT_SUCCESS) return status;
    memset(&waiter, 0, sizeof waiter);
    waiter.gate = gate;
    if (limited) waiter.deadline = glt_shared_now() + seconds;
    ABT_self_get_thread(&waiter.unit);
    glt_shared_lock(&gate->lock);
    open = __atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) == 0;
    if (!open && !(limited && seconds == 0)) {
        cancelled = waiter.unit && !glt_argobots_show_waiter(&waiter, &waiter);
        if (!cancelled && waiter.unit && limited) glt_argobots_timer_put(&waiter);
        if (!cancelled) glt_argobots_gate_put(&waiter);
    }
    glt_shared_unlock(&gate->lock);
    if (open) return GLT_SUCCESS;
    if (limited && seconds == 0) return GLT_TIMEOUT;
    if (!waiter.unit) return glt_argobots_gate_sleep(&waiter);
    if (cancelled) GLT_SHARED_SWITCH(ABT_self_yield()); /* and does not come back */
    else GLT_SHARED_SWITCH(ABT_self_suspend());
    glt_argobots_show_waiter(&waiter, NULL);
    return __atomic_load_n(&waiter.state, __ATOMIC_ACQUIRE) == GLT_ARGOBOTS_LATE ? GLT_TIMEOUT : GLT_SUCCESS;
}

GLT_API int glt_counter_create(long count, GLT_counter* counter)
{
    if (counter && count < 0 && glt_initialized()) {
        *counter = NULL;
        return glt_shared_report(GLT_ERROR_VALUE, "glt_counter_create: count is %ld, not 0 or more", count);
    }
    return glt_argobots_gate_create("glt_counter_create", count, counter);
}

GLT_API int glt_counter_add(GLT_counter counter, long change)
{
    struct glt_argobots_waiter* woken = NULL;
    long old, sum;
    if (__builtin_expect(!counter, 0)) return glt_shared_null("glt_counter_add");
    old = __atomic_load_n(&counter->value, __ATOMIC_RELAXED);
    for (int done = 0; !done;) {
        if (__builtin_add_overflow(old, change, &sum) || sum < 0)
            return glt_shared_report(GLT_ERROR_VALUE, "glt_counter_add: %ld added to a count of %ld; the sum must be 0 or more",
                                     change, old);
        if (sum == 0) glt_shared_lock(&counter->lock);
        done = __atomic_compare_exchange_n(&counter->value, &old, sum, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        if (done && sum == 0) woken = glt_argobots_gate_all(counter);
        if (sum == 0) glt_shared_unlock(&counter->lock);
    }
    glt_argobots_wake_waiters(woken);
    return GLT_SUCCESS;
}

GLT_API int glt_counter_wait(GLT_counter counter) { return glt_argobots_gate_wait("glt_counter_wait", counter, 0, 0); }

GLT_API int glt_counter_wait_for(GLT_counter counter, double seconds)
{
    return glt_argobots_gate_wait("glt_counter_wait_for", counter, 1, seconds);
}

GLT_API int glt_counter_free(GLT_counter* counter) { return glt_argobots_gate_free("glt_counter_free", counter); }

GLT_API int glt_event_create(GLT_event* event) { return glt_argobots_gate_create("glt_event_create", 1, event); }

GLT_API int glt_event_set(GLT_event event)
{
    struct glt_argobots_waiter* woken;
    if (__builtin_expect(!event, 0)) return glt_shared_null("glt_event_set");
    glt_shared_lock(&event->lock);
    __atomic_store_n(&event->value, 0, __ATOMIC_RELEASE);
    woken = glt_argobots_gate_all(event);
    glt_shared_unlock(&event->lock);
    glt_argobots_wake_waiters(woken);
    return GLT_SUCCESS;
}

GLT_API int glt_event_reset(GLT_event event)
{
    if (__builtin_expect(!event, 0)) return glt_shared_null("glt_event_reset");
    __atomic_store_n(&event->value, 1, __ATOMIC_RELEASE);
    return GLT_SUCCESS;
}

GLT_API int glt_event_wait(GLT_event event) { return glt_argobots_gate_wait("glt_event_wait", event, 0, 0); }

GLT_API int glt_event_wait_for(GLT_event event, double seconds)
{
    return glt_argobots_gate_wait("glt_event_wait_for", event, 1, seconds);
}

GLT_API int glt_event_free(GLT_event* event) { return glt_argobots_gate_free("glt_event_free", event); }

#ifdef __cplusplus
}
#endif

#endif
