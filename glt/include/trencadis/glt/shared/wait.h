/* Waiting, the same for units and foreign threads, over some functions of the back end:
 *
 *   glt_shared_self()       the calling unit's record; null in a foreign thread
 *   glt_shared_thread()     the calling thread's number, -1 in a foreign thread
 *   glt_shared_relax()      by a unit: lets others of its thread run, then returns
 *   glt_shared_block(me)    by a unit: off its thread until glt_shared_release_unit(me), which may come first; they pair one to
 * one glt_shared_release_unit(unit)   from anywhere: ends the block, now or the one to come glt_shared_launch(unit) from
 * anywhere: makes a new unit ready; a status glt_shared_nap(word, bits, seconds)   by a unit, where no other is ready: the thread
 * sleeps in the operating system until something becomes ready or somebody nudges, for so long at most, and not when it finds one
 * of the bits set glt_shared_polls(me, change)   one unit more or less of the caller's thread looks at a word again and again,
 * see nap glt_shared_end_naps()   wakes threads from their naps
 *
 * Who waits puts a waiter, which lies on its stack, into a list under the list's lock. Who wakes takes it out under the lock and
 * wakes it after the lock is free; from then on the waiter belongs to the woken one and is not touched. Units block; foreign
 * threads sleep in the operating system on the waiter's word.
 *
 * A cancel ends an open wait without touching the list: of the cancel and who wakes, one finds the bit BLOCKED and releases the
 * unit. A unit released by a cancel takes its waiter out of the list by itself; if somebody has taken it out already, that one
 * finds that he was too late, says so in the waiter's word, and wakes another one if what he has to give is for one only. */
#ifndef TRENCADIS_GLT_SHARED_WAIT_H
#define TRENCADIS_GLT_SHARED_WAIT_H

#include "exceptions.h"
#include "record.h"

/* A back end whose units are operating system threads defines this as 1: with a limit of time, they sleep as foreign threads do.
 */
#ifndef GLT_SHARED_UNITS_SLEEP
#define GLT_SHARED_UNITS_SLEEP 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

static inline struct glt_shared_record* glt_shared_self(void);
static int glt_shared_thread(void);
static inline void glt_shared_relax(void);
static void glt_shared_block(struct glt_shared_record* me);
static void glt_shared_release_unit(struct glt_shared_record* unit);
static inline int glt_shared_launch(struct glt_shared_record* unit);
static void glt_shared_nap(const uint32_t* word, uint32_t bits, double seconds);
static inline void glt_shared_polls(const struct glt_shared_record* me, int change);
static inline void glt_shared_end_naps(void);
static inline void glt_shared_check_cancel(struct glt_shared_record* me);

struct glt_shared_waiter {
    struct glt_shared_waiter* next;
    struct glt_shared_record* unit; /* null: `woken` is waited for */
    uint32_t woken;                 /* 1: was taken out of the list and woken; of a unit only when a cancel was first */
    uint32_t taken;                 /* 1: out of the list; written under its lock */
    uint32_t sleeps;                /* a foreign thread sleeps on `woken`; else a unit looks at it from time to time */
};

/* First come, first woken. */
struct glt_shared_waiters {
    struct glt_shared_waiter *first, *last;
    uint32_t lock;
};

static inline void glt_shared_waiter_init(struct glt_shared_waiter* waiter, struct glt_shared_record* me)
{
    waiter->next = NULL;
    waiter->unit = me;
    waiter->woken = 0;
    waiter->taken = 0;
    waiter->sleeps = !me;
}

static inline void glt_shared_waiters_add(struct glt_shared_waiters* list, struct glt_shared_waiter* waiter)
{
    if (list->last) list->last->next = waiter;
    else list->first = waiter;
    list->last = waiter;
}

static inline struct glt_shared_waiter* glt_shared_waiters_take(struct glt_shared_waiters* list)
{
    struct glt_shared_waiter* waiter = list->first;
    if (waiter) {
        list->first = waiter->next;
        if (!list->first) list->last = NULL;
        __atomic_store_n(&waiter->taken, 1, __ATOMIC_SEQ_CST);
    }
    return waiter;
}

static inline struct glt_shared_waiter* glt_shared_waiters_take_all(struct glt_shared_waiters* list)
{
    struct glt_shared_waiter* first = list->first;
    for (struct glt_shared_waiter* at = first; at; at = at->next) __atomic_store_n(&at->taken, 1, __ATOMIC_SEQ_CST);
    list->first = list->last = NULL;
    return first;
}

/* 0: it was not there. */
static inline int glt_shared_waiters_remove(struct glt_shared_waiters* list, struct glt_shared_waiter* waiter)
{
    struct glt_shared_waiter* before = NULL;
    for (struct glt_shared_waiter* at = list->first; at; before = at, at = at->next) {
        if (at != waiter) continue;
        if (before) before->next = at->next;
        else list->first = at->next;
        if (list->last == at) list->last = before;
        return 1;
    }
    return 0;
}

GLT_SHARED_VARIABLE uint32_t glt_shared_nappers; /* units in a nap or about to be */

/* After a word was written that a napping unit may be looking at. */
static inline void glt_shared_nudge(void)
{
    if (__builtin_expect(__atomic_load_n(&glt_shared_nappers, __ATOMIC_SEQ_CST) != 0, 0)) glt_shared_end_naps();
}

/* The bit tells glt_finalize that the unit waits; it is gone before the unit can run again, and `wakes` has counted. 0: a cancel
 * was first. */
static inline int glt_shared_wake_unit(struct glt_shared_record* unit)
{
    const uint32_t bits = GLT_SHARED_BLOCKED | GLT_SHARED_OPEN;
    __atomic_fetch_add(&unit->wakes, 1, __ATOMIC_RELAXED);
    if (!(__atomic_fetch_and(&unit->state, ~bits, __ATOMIC_ACQ_REL) & GLT_SHARED_BLOCKED)) return 0;
    glt_shared_release_unit(unit);
    return 1;
}

/* Before it becomes known to those who wake. */
static inline void glt_shared_will_block(struct glt_shared_record* me)
{
    if (me) glt_shared_record_mark(me, GLT_SHARED_BLOCKED);
}

/* The same for a wait that a cancel ends. 0, and nothing done, when one came before. */
static inline int glt_shared_will_block_open(struct glt_shared_record* me)
{
    uint32_t state, blocked;
    if (!me) return 1;
    state = glt_shared_record_state(me);
    do {
        blocked = state | GLT_SHARED_BLOCKED;
        if (!(state & GLT_SHARED_LEAVING)) {
            if (state & GLT_SHARED_CANCELLED) return 0;
            blocked |= GLT_SHARED_OPEN;
        }
    } while (!__atomic_compare_exchange_n(&me->state, &state, blocked, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return 1;
}

/* 0: a cancel was first. The word is written, and the count of nappers read, in sequence, as a napper counts itself and then
 * reads the word: either it sees the word, or it is seen. */
static inline int glt_shared_wake(struct glt_shared_waiter* waiter)
{
    uint32_t sleeps = waiter->sleeps;
    int unit = waiter->unit != NULL;
    if (unit && glt_shared_wake_unit(waiter->unit)) return 1;
    __atomic_store_n(&waiter->woken, 1, __ATOMIC_SEQ_CST);
    if (sleeps)
        glt_shared_futex_wake(&waiter->woken, 1); /* the address may be somebody else's by now, who then wakes for no reason */
    else if (!unit) glt_shared_nudge();
    return !unit;
}

static inline void glt_shared_wake_all(struct glt_shared_waiter* first)
{
    while (first) {
        struct glt_shared_waiter* next = first->next;
        glt_shared_wake(first);
        first = next;
    }
}

/* Whether the last wait of the calling unit was ended by a cancel. */
static inline int glt_shared_was_cut(struct glt_shared_record* me)
{
    if (!me || __builtin_expect(!(glt_shared_record_state(me) & GLT_SHARED_CUT), 1)) return 0;
    __atomic_fetch_and(&me->state, ~(uint32_t)GLT_SHARED_CUT, __ATOMIC_RELAXED);
    return 1;
}

/* After the waiter was put into a list and the list's lock released. 0: the wait was cut, and what it waited on is still to be
 * left. */
static inline int glt_shared_wait(struct glt_shared_waiter* waiter)
{
    if (waiter->unit) {
        glt_shared_block(waiter->unit);
        return !glt_shared_was_cut(waiter->unit);
    }
    while (!__atomic_load_n(&waiter->woken, __ATOMIC_ACQUIRE)) glt_shared_futex_wait(&waiter->woken, 0, -1);
    return 1;
}

/* Who has taken the waiter out is about to say that he was too late. */
static inline void glt_shared_wait_for_waker(const struct glt_shared_waiter* waiter)
{
    for (unsigned looks = 1; !__atomic_load_n(&waiter->woken, __ATOMIC_ACQUIRE); ++looks) {
        if (looks % 64 == 0) glt_shared_sched_yield();
        else glt_shared_pause();
    }
}

/* Who takes its own waiter out, after a cancel or when its time is over, may come too late: another one that was woken may free
 * the object at once, and the list with it. It counts itself among the leavers, takes the lock, and looks at the list only if
 * nobody has taken the waiter out. Who frees an object looks at the count, and where there is one, takes the lock once. Both are
 * sequentially consistent: either the free sees the count and waits, or the leaver sees `taken`, which was written before the
 * free. */
GLT_SHARED_VARIABLE uint32_t glt_shared_leave_lock;
GLT_SHARED_VARIABLE uint32_t glt_shared_leavers; /* units cancelled so far that have not ended, and those just leaving in time */

/* Takes the waiter out of its list; `*count`, if there is one, is counted down with it. For a leaver. 0: somebody else has, and
 * is about to wake it. */
GLT_SHARED_APART int glt_shared_leave_list(struct glt_shared_waiters* list, struct glt_shared_waiter* waiter, int* count)
{
    int removed = 0;
    glt_shared_lock(&glt_shared_leave_lock);
    if (!__atomic_load_n(&waiter->taken, __ATOMIC_SEQ_CST)) {
        glt_shared_lock(&list->lock);
        removed = glt_shared_waiters_remove(list, waiter);
        if (removed && count) --*count;
        glt_shared_unlock(&list->lock);
    }
    glt_shared_unlock(&glt_shared_leave_lock);
    return removed;
}

/* Takes the waiter of a wait that was cut out of its list. */
static inline void glt_shared_withdraw(struct glt_shared_waiters* list, struct glt_shared_waiter* waiter, int* count)
{
    if (!glt_shared_leave_list(list, waiter, count)) glt_shared_wait_for_waker(waiter);
}

static inline int glt_shared_is_cancelled(const struct glt_shared_record* me)
{
    return me && (glt_shared_record_state(me) & (GLT_SHARED_CANCELLED | GLT_SHARED_LEAVING)) == GLT_SHARED_CANCELLED;
}

/* A step of somebody who looks for bits in a word again and again: lets others run; where there are none for a while, the thread
 * naps. */
GLT_SHARED_APART void glt_shared_look_again(const struct glt_shared_record* me, const uint32_t* word, uint32_t bits,
                                            unsigned* rounds, double left)
{
    double start = glt_shared_now();
    if (me) GLT_SHARED_SWITCH(glt_shared_relax());
    if (glt_shared_now() - start > 2e-6) *rounds = 0; /* others did run */
    if (++*rounds <= 50) return;
    __atomic_fetch_add(&glt_shared_nappers, 1, __ATOMIC_SEQ_CST);
    glt_shared_nap(word, bits, left < 0.01 ? left : 0.01);
    __atomic_fetch_sub(&glt_shared_nappers, 1, __ATOMIC_SEQ_CST);
}

/* As glt_shared_wait, until `deadline` of glt_shared_now at most. A unit looks at its waiter from time to time, since the
 * libraries have no waits with a limit; the waiter was made without a unit. 0: the time was over, or the unit cancelled, and the
 * waiter is out of the list. */
GLT_SHARED_APART int glt_shared_wait_until(struct glt_shared_waiters* list, struct glt_shared_waiter* waiter,
                                           struct glt_shared_record* me, double deadline)
{
    unsigned rounds = 0;
    int removed = 0;
    glt_shared_polls(me, 1);
    while (!__atomic_load_n(&waiter->woken, __ATOMIC_ACQUIRE)) {
        double left = deadline - glt_shared_now();
        if (__builtin_expect(glt_shared_is_cancelled(me), 0)) {
            glt_shared_withdraw(list, waiter, NULL);
            removed = 1;
            break;
        } else if (left <= 0 && !removed) {
            __atomic_fetch_add(&glt_shared_leavers, 1, __ATOMIC_SEQ_CST);
            removed = glt_shared_leave_list(list, waiter, NULL);
            __atomic_fetch_sub(&glt_shared_leavers, 1, __ATOMIC_RELEASE);
            if (removed) break;
            deadline += 1e9; /* somebody has taken it out and is about to wake it */
        } else if (me && !GLT_SHARED_UNITS_SLEEP) {
            glt_shared_look_again(me, &waiter->woken, 1, &rounds, left);
        } else {
            glt_shared_futex_wait(&waiter->woken, 0, me && left > 0.01 ? 0.01 : left); /* a cancel does not write the word */
        }
    }
    glt_shared_polls(me, -1);
    return !removed;
}

/* GLT_SUCCESS when the caller may wait: not a tasklet, which has no stack to wait on. A unit that was cancelled ends here. */
static inline int glt_shared_may_wait(const char* function, struct glt_shared_record* me)
{
    if (!me) return GLT_SUCCESS;
    if (glt_shared_record_state(me) & GLT_SHARED_TASKLET)
        return glt_shared_report(GLT_ERROR_CONTEXT, "%s: a tasklet may not wait; use a ULT", function);
    glt_shared_check_cancel(me);
    return GLT_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
