/* Counters and events: a number that is waited for, over a mutex and a condition of Argobots. A counter waits for 0; an event is 1 until
 * it is set, then 0.
 *
 * The number becomes 0 under the mutex only, and whoever waited has held the mutex since. So a waiter may free the gate at once: to free
 * the mutex Argobots waits for an unlock that is not over. */
#ifndef TRENCADIS_GLT_ARGOBOTS_GATE_H
#define TRENCADIS_GLT_ARGOBOTS_GATE_H

#include "poll.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glt_argobots_gate {
    long value; /* to 0 under the mutex, else atomic */
    ABT_mutex mutex;
    ABT_cond cond;
};

GLT_SHARED_APART int glt_argobots_gate_create(const char* caller, long value, struct glt_argobots_gate** gate)
{
    struct glt_argobots_gate* made = (struct glt_argobots_gate*)malloc(sizeof *made);
    int error = made ? ABT_mutex_create(&made->mutex) : ABT_ERR_MEM;
    if (error == ABT_SUCCESS && (error = ABT_cond_create(&made->cond)) != ABT_SUCCESS) ABT_mutex_free(&made->mutex);
    *gate = NULL;
    if (error != ABT_SUCCESS) {
        free(made);
        return glt_argobots_failed(caller, error);
    }
    made->value = value;
    *gate = made;
    return GLT_SUCCESS;
}

static inline void glt_argobots_gate_free(struct glt_argobots_gate** gate)
{
    ABT_cond_free(&(*gate)->cond);
    ABT_mutex_free(&(*gate)->mutex);
    free(*gate);
    *gate = NULL;
}

static inline void glt_argobots_gate_open(struct glt_argobots_gate* gate)
{
    ABT_mutex_lock(gate->mutex);
    __atomic_store_n(&gate->value, 0, __ATOMIC_RELEASE);
    ABT_cond_broadcast(gate->cond);
    ABT_mutex_unlock(gate->mutex);
}

static inline int glt_argobots_may_wait(const char* caller)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    ABT_self_get_type(&type);
    if (type != ABT_UNIT_TYPE_TASK) return GLT_SUCCESS;
    return glt_shared_report(GLT_ERROR_CONTEXT, "%s: a tasklet may not wait; use a ULT", caller);
}

GLT_SHARED_APART int glt_argobots_gate_wait(const char* caller, struct glt_argobots_gate* gate)
{
    int status = __atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) == 0 ? GLT_SUCCESS : glt_argobots_may_wait(caller);
    if (status != GLT_SUCCESS) return status;
    ABT_mutex_lock(gate->mutex);
    while (__atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) != 0) ABT_cond_wait(gate->cond, gate->mutex);
    ABT_mutex_unlock(gate->mutex);
    return GLT_SUCCESS;
}

GLT_SHARED_APART int glt_argobots_gate_wait_for(const char* caller, struct glt_argobots_gate* gate, double seconds)
{
    double end = glt_shared_now() + seconds;
    int status = GLT_SUCCESS;
    if (!(seconds >= 0)) return glt_shared_report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", caller, seconds);
    if (seconds > 0 && __atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) != 0) status = glt_argobots_may_wait(caller);
    if (status != GLT_SUCCESS) return status;
    for (unsigned step = 0; __atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) != 0; ++step) {
        if (glt_shared_now() >= end) return GLT_TIMEOUT;
        glt_argobots_poll(step);
    }
    ABT_mutex_lock(gate->mutex); /* who opened it is about to leave */
    ABT_mutex_unlock(gate->mutex);
    return GLT_SUCCESS;
}

GLT_API int glt_counter_create(long count, GLT_counter* counter)
{
    if (count < 0) return glt_shared_report(GLT_ERROR_VALUE, "glt_counter_create: count is %ld, not 0 or more", count);
    return glt_argobots_gate_create("glt_counter_create", count, counter);
}

GLT_API int glt_counter_add(GLT_counter counter, long change)
{
    long old = __atomic_load_n(&counter->value, __ATOMIC_RELAXED), sum;
    for (;;) {
        int locked = 0, done;
        if (__builtin_add_overflow(old, change, &sum) || sum < 0)
            return glt_shared_report(GLT_ERROR_VALUE, "glt_counter_add: %ld added to a count of %ld; the sum must be 0 or more",
                                     change, old);
        if (sum == 0) ABT_mutex_lock(counter->mutex), locked = 1;
        done = __atomic_compare_exchange_n(&counter->value, &old, sum, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        if (done && locked) ABT_cond_broadcast(counter->cond);
        if (locked) ABT_mutex_unlock(counter->mutex);
        if (done) return GLT_SUCCESS;
    }
}

GLT_API int glt_counter_wait(GLT_counter counter) { return glt_argobots_gate_wait("glt_counter_wait", counter); }

GLT_API int glt_counter_wait_for(GLT_counter counter, double seconds)
{
    return glt_argobots_gate_wait_for("glt_counter_wait_for", counter, seconds);
}

GLT_API int glt_counter_free(GLT_counter* counter)
{
    glt_argobots_gate_free(counter);
    return GLT_SUCCESS;
}

GLT_API int glt_event_create(GLT_event* event) { return glt_argobots_gate_create("glt_event_create", 1, event); }

GLT_API int glt_event_set(GLT_event event)
{
    glt_argobots_gate_open(event);
    return GLT_SUCCESS;
}

GLT_API int glt_event_reset(GLT_event event)
{
    __atomic_store_n(&event->value, 1, __ATOMIC_RELEASE);
    return GLT_SUCCESS;
}

GLT_API int glt_event_wait(GLT_event event) { return glt_argobots_gate_wait("glt_event_wait", event); }

GLT_API int glt_event_wait_for(GLT_event event, double seconds)
{
    return glt_argobots_gate_wait_for("glt_event_wait_for", event, seconds);
}

GLT_API int glt_event_free(GLT_event* event)
{
    glt_argobots_gate_free(event);
    return GLT_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
