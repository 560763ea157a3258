/* Counters and events. A back end's types.h says `typedef struct glt_counter *GLT_counter; typedef struct glt_shared_event
 * *GLT_event;`.
 *
 * A counter becomes 0, and an event set, only under the lock of the list of waiters, and every wait that returns has held that
 * lock since: whoever waited may free the object at once, the one that opened it does not touch it any more. */
#ifndef TRENCADIS_GLT_SHARED_COUNTER_H
#define TRENCADIS_GLT_SHARED_COUNTER_H

#include "mutex.h"

#ifdef __cplusplus
extern "C" {
#endif

struct glt_counter {
    long value; /* becomes 0 under the lock only; other changes are atomic */
    struct glt_shared_waiters waiters;
};

/* The part all waits of counters and events share: `*value` is `open`, or the caller waits. Negative seconds: for ever. */
GLT_SHARED_APART int glt_shared_open_wait(const char* function, const long* value, long open, struct glt_shared_waiters* waiters,
                                          int limited, double seconds)
{
    struct glt_shared_waiter waiter;
    struct glt_shared_record* me = glt_shared_self();
    int status = GLT_SUCCESS, waits;
    if (limited && !(seconds >= 0))
        return glt_shared_report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", function, seconds);
    if (__atomic_load_n(value, __ATOMIC_ACQUIRE) != open && !(limited && seconds == 0))
        status = glt_shared_may_wait(function, me);
    if (status != GLT_SUCCESS) return status;
    glt_shared_waiter_init(&waiter, limited ? NULL : me);
    waiter.sleeps = !me || GLT_SHARED_UNITS_SLEEP;
    glt_shared_lock(&waiters->lock);
    if (__atomic_load_n(value, __ATOMIC_ACQUIRE) == open || (limited && seconds == 0)) {
        status = __atomic_load_n(value, __ATOMIC_ACQUIRE) == open ? GLT_SUCCESS : GLT_TIMEOUT;
        glt_shared_unlock(&waiters->lock);
        return status;
    }
    waits = glt_shared_will_block_open(waiter.unit);
    if (waits) glt_shared_waiters_add(waiters, &waiter);
    glt_shared_unlock(&waiters->lock);
    if (limited) {
        status = glt_shared_wait_until(waiters, &waiter, me, glt_shared_now() + seconds) ? GLT_SUCCESS : GLT_TIMEOUT;
        if (me) glt_shared_check_cancel(me);
        return status;
    }
    if (waits && glt_shared_wait(&waiter)) return GLT_SUCCESS;
    if (waits) glt_shared_withdraw(waiters, &waiter, NULL);
    glt_shared_check_cancel(me);
    return GLT_SUCCESS;
}

GLT_API int glt_counter_create(long count, GLT_counter* counter)
{
    struct glt_counter* made;
    if (!GLT_SHARED_MAKES("glt_counter_create", counter)) return glt_shared_last_status();
    if (count < 0) return glt_shared_report(GLT_ERROR_VALUE, "glt_counter_create: count is %ld, not 0 or more", count);
    made = (struct glt_counter*)glt_shared_object("glt_counter_create", sizeof *made);
    if (!made) return GLT_ERROR_MEMORY;
    made->value = count;
    *counter = made;
    return GLT_SUCCESS;
}

GLT_API int glt_counter_add(GLT_counter counter, long change)
{
    struct glt_shared_waiter* first;
    long old;
    if (__builtin_expect(!counter, 0)) return glt_shared_null("glt_counter_add");
    old = __atomic_load_n(&counter->value, __ATOMIC_RELAXED);
    for (;;) {
        long sum;
        if (__builtin_add_overflow(old, change, &sum) || sum < 0)
            return glt_shared_report(GLT_ERROR_VALUE, "glt_counter_add: %ld added to a count of %ld; the sum must be 0 or more",
                                     change, old);
        if (sum == 0) {
            glt_shared_lock(&counter->waiters.lock);
            if (__atomic_compare_exchange_n(&counter->value, &old, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
            glt_shared_unlock(&counter->waiters.lock);
        } else if (__atomic_compare_exchange_n(&counter->value, &old, sum, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            return GLT_SUCCESS;
        }
    }
    first = glt_shared_waiters_take_all(&counter->waiters);
    glt_shared_unlock(&counter->waiters.lock);
    glt_shared_wake_all(first);
    return GLT_SUCCESS;
}

GLT_API int glt_counter_wait(GLT_counter counter)
{
    if (__builtin_expect(!counter, 0)) return glt_shared_null("glt_counter_wait");
    return glt_shared_open_wait("glt_counter_wait", &counter->value, 0, &counter->waiters, 0, 0);
}

GLT_API int glt_counter_wait_for(GLT_counter counter, double seconds)
{
    if (__builtin_expect(!counter, 0)) return glt_shared_null("glt_counter_wait_for");
    return glt_shared_open_wait("glt_counter_wait_for", &counter->value, 0, &counter->waiters, 1, seconds);
}

GLT_API int glt_counter_free(GLT_counter* counter)
{
    if (__builtin_expect(!counter || !*counter, 0)) return glt_shared_null("glt_counter_free");
    glt_shared_await_leavers();
    free(*counter);
    *counter = NULL;
    return GLT_SUCCESS;
}

struct glt_shared_event {
    long set; /* 1 or 0, written under the lock */
    struct glt_shared_waiters waiters;
};

GLT_API int glt_event_create(GLT_event* event)
{
    GLT_event made;
    if (!GLT_SHARED_MAKES("glt_event_create", event)) return glt_shared_last_status();
    made = (GLT_event)glt_shared_object("glt_event_create", sizeof(struct glt_shared_event));
    if (!made) return GLT_ERROR_MEMORY;
    *event = made;
    return GLT_SUCCESS;
}

GLT_API int glt_event_set(GLT_event event)
{
    struct glt_shared_waiter* first;
    if (__builtin_expect(!event, 0)) return glt_shared_null("glt_event_set");
    glt_shared_lock(&event->waiters.lock);
    __atomic_store_n(&event->set, 1, __ATOMIC_RELEASE);
    first = glt_shared_waiters_take_all(&event->waiters);
    glt_shared_unlock(&event->waiters.lock);
    glt_shared_wake_all(first);
    return GLT_SUCCESS;
}

GLT_API int glt_event_reset(GLT_event event)
{
    if (__builtin_expect(!event, 0)) return glt_shared_null("glt_event_reset");
    glt_shared_lock(&event->waiters.lock);
    __atomic_store_n(&event->set, 0, __ATOMIC_RELEASE);
    glt_shared_unlock(&event->waiters.lock);
    return GLT_SUCCESS;
}

GLT_API int glt_event_wait(GLT_event event)
{
    if (__builtin_expect(!event, 0)) return glt_shared_null("glt_event_wait");
    return glt_shared_open_wait("glt_event_wait", &event->set, 1, &event->waiters, 0, 0);
}

GLT_API int glt_event_wait_for(GLT_event event, double seconds)
{
    if (__builtin_expect(!event, 0)) return glt_shared_null("glt_event_wait_for");
    return glt_shared_open_wait("glt_event_wait_for", &event->set, 1, &event->waiters, 1, seconds);
}

GLT_API int glt_event_free(GLT_event* event)
{
    if (__builtin_expect(!event || !*event, 0)) return glt_shared_null("glt_event_free");
    glt_shared_await_leavers();
    free(*event);
    *event = NULL;
    return GLT_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
