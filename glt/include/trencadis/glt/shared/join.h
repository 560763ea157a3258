/* Joining, detaching and freeing units over records, and the end of them all in glt_finalize. */
#ifndef TRENCADIS_GLT_SHARED_JOIN_H
#define TRENCADIS_GLT_SHARED_JOIN_H

#include "unit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* May the caller wait for the end of the unit? One who was cancelled does not come back. */
GLT_SHARED_APART int glt_shared_may_join(const char* function, struct glt_shared_record* record, struct glt_shared_record* me)
{
    if (record == me || record == glt_shared_process.main_program)
        return glt_shared_report(GLT_ERROR_CONTEXT, "%s: %s", function,
                                 record == me ? "a unit cannot join itself" : "the main program cannot be joined");
    return glt_shared_record_state(record) & GLT_SHARED_ENDED ? GLT_SUCCESS : glt_shared_may_wait(function, me);
}

/* The bit JOINED for the caller, who may. */
static inline int glt_shared_mark_joined(const char* function, struct glt_shared_record* record)
{
    if (!(glt_shared_record_mark(record, GLT_SHARED_JOINED) & GLT_SHARED_JOINED)) return GLT_SUCCESS;
    return glt_shared_report(GLT_ERROR_HANDLE, "%s: the unit was joined before", function);
}

static inline int glt_shared_claim(const char* function, struct glt_shared_record* record, struct glt_shared_record* me)
{
    int status = glt_shared_may_join(function, record, me);
    return status == GLT_SUCCESS ? glt_shared_mark_joined(function, record) : status;
}

/* The caller, who was cancelled, no longer waits; the unit is to be joined, and freed, by somebody else. Where it ended first,
 * its last look at the record is at the joiner's waiter: nobody may take the record before that one is woken. */
GLT_SHARED_APART void glt_shared_give_up_join(struct glt_shared_record* record, const struct glt_shared_waiter* waiter)
{
    uint32_t state = __atomic_fetch_and(&record->state, ~(uint32_t)GLT_SHARED_WAITED, __ATOMIC_ACQ_REL);
    if (state & GLT_SHARED_ENDED) glt_shared_wait_for_waker(waiter);
    __atomic_fetch_and(&record->state, ~(uint32_t)(GLT_SHARED_JOINED | GLT_SHARED_FREED), __ATOMIC_RELEASE);
}

/* Waits for the end of the unit. Only for the one who set JOINED. */
GLT_SHARED_APART void glt_shared_wait_end(struct glt_shared_record* record, struct glt_shared_record* me)
{
    const uint32_t bits = GLT_SHARED_BLOCKED | GLT_SHARED_OPEN;
    struct glt_shared_waiter waiter;
    glt_shared_waiter_init(&waiter, me);
    record->joiner = &waiter;
    if (!glt_shared_will_block_open(me)) {
        __atomic_fetch_and(&record->state, ~(uint32_t)(GLT_SHARED_JOINED | GLT_SHARED_FREED), __ATOMIC_RELEASE);
        glt_shared_check_cancel(me);
    } else if (!(glt_shared_record_mark(record, GLT_SHARED_WAITED) & GLT_SHARED_ENDED)) {
        if (glt_shared_wait(&waiter)) return;
        glt_shared_give_up_join(record, &waiter);
        glt_shared_check_cancel(me);
    } else if (me && !(__atomic_fetch_and(&me->state, ~bits, __ATOMIC_ACQ_REL) & GLT_SHARED_BLOCKED)) {
        glt_shared_block(me); /* a cancel was first, and its release is on its way */
        glt_shared_was_cut(me);
    }
}

/* A success, and the unit has ended, for the one who set JOINED. */
static inline int glt_shared_join_record(const char* function, struct glt_shared_record* record)
{
    struct glt_shared_record* me = glt_shared_self();
    int status = glt_shared_claim(function, record, me);
    if (status == GLT_SUCCESS && !(glt_shared_record_state(record) & GLT_SHARED_ENDED)) glt_shared_wait_end(record, me);
    return status;
}

/* What the joiner does last. */
static inline int glt_shared_joined(struct glt_shared_record* record, int status)
{
    if (status == GLT_SUCCESS) glt_shared_record_mark(record, GLT_SHARED_TAKEN);
    return status;
}

static inline int glt_shared_join(const char* function, const void* unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    if (__builtin_expect(!record, 0)) return glt_shared_bad_handle(function, unit);
    return glt_shared_joined(record, glt_shared_join_record(function, record));
}

static inline int glt_status_of_ult_join(GLT_ult* unit) { return glt_shared_join("glt_ult_join", unit ? *unit : NULL); }
static inline int glt_status_of_tasklet_join(GLT_tasklet* tasklet)
{
    return glt_shared_join("glt_tasklet_join", tasklet ? *tasklet : NULL);
}
GLT_API void glt_ult_join(GLT_ult* unit) { glt_status_of_ult_join(unit); }
GLT_API void glt_tasklet_join(GLT_tasklet* tasklet) { glt_status_of_tasklet_join(tasklet); }

/* FREED is set by one caller, who has been asked before whether it may wait, since a cancelled one would leave with it. Where
 * another joins the unit and is not through, it takes the bit back and nothing has happened. */
static inline int glt_shared_free(const char* function, GLT_ult* unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit ? *unit : NULL);
    struct glt_shared_record* me = glt_shared_self();
    int status = GLT_SUCCESS;
    uint32_t state;
    if (__builtin_expect(!record, 0)) return glt_shared_bad_handle(function, unit ? *unit : NULL);
    for (;;) {
        const uint32_t joined = glt_shared_record_state(record) & GLT_SHARED_JOINED;
        if (!joined) status = glt_shared_may_join(function, record, me);
        if (status != GLT_SUCCESS) return status;
        state = glt_shared_record_mark(record, GLT_SHARED_FREED);
        if (state & GLT_SHARED_FREED) return glt_shared_bad_handle(function, *unit);
        if (!joined || (state & GLT_SHARED_JOINED)) break;
        __atomic_fetch_and(&record->state, ~(uint32_t)GLT_SHARED_FREED, __ATOMIC_RELAXED); /* its joiner was cut meanwhile */
    }
    if (!(state & GLT_SHARED_JOINED)) {
        status = glt_shared_mark_joined(function, record);
        if (status == GLT_SUCCESS && !(glt_shared_record_state(record) & GLT_SHARED_ENDED)) glt_shared_wait_end(record, me);
    } else if (!(state & GLT_SHARED_TAKEN)) {
        status = glt_shared_report(GLT_ERROR_HANDLE, "%s: the unit is being joined by another", function);
    }
    if (status == GLT_SUCCESS) {
        glt_shared_record_release(record, glt_shared_thread());
        *unit = NULL;
    } else {
        __atomic_fetch_and(&record->state, ~(uint32_t)GLT_SHARED_FREED, __ATOMIC_RELAXED);
    }
    return status;
}

static inline int glt_status_of_ult_free(GLT_ult* unit) { return glt_shared_free("glt_ult_free", unit); }
static inline int glt_status_of_tasklet_free(GLT_tasklet* tasklet) { return glt_shared_free("glt_tasklet_free", tasklet); }
GLT_API void glt_ult_free(GLT_ult* unit) { glt_status_of_ult_free(unit); }
GLT_API void glt_tasklet_free(GLT_tasklet* tasklet) { glt_status_of_tasklet_free(tasklet); }

GLT_SHARED_APART int glt_shared_try_join(const char* function, const void* unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    if (!record) return glt_shared_bad_handle(function, unit);
    if (!(glt_shared_record_state(record) & (GLT_SHARED_ENDED | GLT_SHARED_JOINED)) && record != glt_shared_self())
        return GLT_BUSY;
    return glt_shared_joined(record, glt_shared_claim(function, record, glt_shared_self()));
}

GLT_API int glt_ult_try_join(GLT_ult* unit) { return glt_shared_try_join("glt_ult_try_join", unit ? *unit : NULL); }
GLT_API int glt_tasklet_try_join(GLT_tasklet* tasklet)
{
    return glt_shared_try_join("glt_tasklet_try_join", tasklet ? *tasklet : NULL);
}

GLT_SHARED_APART int glt_shared_join_for(const char* function, const void* unit, double seconds)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    struct glt_shared_record* me;
    double deadline = glt_shared_now() + seconds;
    unsigned rounds = 0;
    int status;
    if (!record) return glt_shared_bad_handle(function, unit);
    if (!(seconds >= 0)) return glt_shared_report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", function, seconds);
    me = glt_shared_self();
    status = glt_shared_claim(function, record, me);
    if (status != GLT_SUCCESS) return status;
    glt_shared_polls(me, 1);
    while (!(glt_shared_record_state(record) & GLT_SHARED_ENDED)) {
        double left = deadline - glt_shared_now();
        if (left <= 0 || glt_shared_is_cancelled(me)) {
            __atomic_fetch_and(&record->state, ~(uint32_t)GLT_SHARED_JOINED, __ATOMIC_RELEASE);
            status = GLT_TIMEOUT;
            break;
        }
        glt_shared_look_again(me, &record->state, GLT_SHARED_ENDED, &rounds, left);
    }
    glt_shared_polls(me, -1);
    glt_shared_joined(record, status);
    if (me) glt_shared_check_cancel(me);
    return status;
}

GLT_API int glt_ult_join_for(GLT_ult* unit, double seconds)
{
    return glt_shared_join_for("glt_ult_join_for", unit ? *unit : NULL, seconds);
}

GLT_API int glt_tasklet_join_for(GLT_tasklet* tasklet, double seconds)
{
    return glt_shared_join_for("glt_tasklet_join_for", tasklet ? *tasklet : NULL, seconds);
}

GLT_SHARED_APART int glt_shared_detach(const char* function, GLT_ult* unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit ? *unit : NULL);
    uint32_t state;
    if (!record) return glt_shared_bad_handle(function, unit ? *unit : NULL);
    if (record == glt_shared_process.main_program)
        return glt_shared_report(GLT_ERROR_CONTEXT, "%s: the main program cannot be detached", function);
    state = glt_shared_record_mark(record, GLT_SHARED_JOINED);
    if (state & GLT_SHARED_JOINED) return glt_shared_report(GLT_ERROR_HANDLE, "%s: the unit was joined before", function);
    *unit = NULL;
    state = glt_shared_record_mark(record, GLT_SHARED_DETACHED);
    if (state & GLT_SHARED_ENDED) glt_shared_record_release(record, glt_shared_thread());
    return GLT_SUCCESS;
}

GLT_API int glt_ult_detach(GLT_ult* unit) { return glt_shared_detach("glt_ult_detach", unit); }
GLT_API int glt_tasklet_detach(GLT_tasklet* tasklet) { return glt_shared_detach("glt_tasklet_detach", tasklet); }

/* --- The end of all units ---------------------------------------------------------------------------------------- */

struct glt_shared_census {
    long going;                            /* not ended and not blocked */
    long blocked;                          /* until somebody wakes them */
    uint64_t wakes;                        /* ever, of the blocked ones */
    const struct glt_shared_record* first; /* of the blocked ones */
};

GLT_SHARED_APART struct glt_shared_census glt_shared_count_units(void)
{
    struct glt_shared_records* all = &glt_shared_records;
    struct glt_shared_census census;
    memset(&census, 0, sizeof census);
    glt_shared_lock(&all->lock);
    for (struct glt_shared_slab* slab = all->slabs; slab; slab = slab->next) {
        for (int i = 0; i < GLT_SHARED_SLAB; ++i) {
            const struct glt_shared_record* record = &slab->records[i];
            uint32_t state = glt_shared_record_state(record);
            if (!(state & GLT_SHARED_LIVE) || (state & GLT_SHARED_ENDED) || record == glt_shared_process.main_program) continue;
            if (state & GLT_SHARED_BLOCKED) {
                ++census.blocked;
                census.wakes += __atomic_load_n(&record->wakes, __ATOMIC_RELAXED);
                if (!census.first) census.first = record;
            } else {
                ++census.going;
            }
        }
    }
    glt_shared_unlock(&all->lock);
    return census;
}

/* By the main program: runs the others until none is left or all wait for ever. That is so when two counts one after the other
 * find all blocked and equally often woken: each was then blocked from its first visit to its second, all of them at the moment
 * between, and a blocked unit is only woken by one that runs. Answers how many are left. */
GLT_SHARED_APART long glt_shared_run_dry(struct glt_shared_census* left)
{
    const uint32_t nothing = 0;
    unsigned rounds = 0;
    for (;;) {
        struct glt_shared_census before = glt_shared_count_units();
        *left = glt_shared_count_units();
        if (before.going == 0 && left->going == 0 && before.blocked == left->blocked && before.wakes == left->wakes)
            return left->blocked;
        glt_shared_look_again(glt_shared_process.main_program, &nothing, 0, &rounds, 0.001);
    }
}

/* After the library has ended its threads: all handles become stale. */
GLT_SHARED_APART void glt_shared_drop_units(void)
{
    struct glt_shared_records* all = &glt_shared_records;
    for (struct glt_shared_slab* slab = all->slabs; slab; slab = slab->next) {
        for (int i = 0; i < GLT_SHARED_SLAB; ++i) {
            struct glt_shared_record* record = &slab->records[i];
            if (!(glt_shared_record_state(record) & GLT_SHARED_LIVE)) continue;
            free(record->values);
            record->values = NULL;
            glt_shared_record_release(record, -1);
        }
    }
}

/* Names those that wait for ever. */
GLT_SHARED_APART void glt_shared_report_left(const struct glt_shared_census* left)
{
    if (left->blocked > 0)
        glt_shared_report(GLT_ERROR_STATE, "glt_finalize: %ld unit%s wait%s for ever and %s dropped, among them %s (id %llu)",
                          left->blocked, left->blocked == 1 ? "" : "s", left->blocked == 1 ? "s" : "",
                          left->blocked == 1 ? "is" : "are", left->first->name ? left->first->name : "one without a name",
                          (unsigned long long)glt_shared_record_id(left->first));
}

/* How glt_finalize begins: 0 after a report when it may not be called here; else what is ready has run, and who is left was
 * named. */
GLT_SHARED_APART int glt_shared_wind_up(struct glt_shared_census* left)
{
    const struct glt_shared_process* all = &glt_shared_process;
    if (!all->running) {
        glt_shared_report(GLT_ERROR_STATE, "glt_finalize: before glt_init, or a second time");
        return 0;
    }
    if (glt_shared_self() != all->main_program) {
        glt_shared_report(GLT_ERROR_CONTEXT, "glt_finalize: only the thread that called glt_init may");
        return 0;
    }
    glt_shared_run_dry(left);
    glt_shared_report_left(left);
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
