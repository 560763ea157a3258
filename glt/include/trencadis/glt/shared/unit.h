/* Work units over records: their life from creation to free, cancel, exit, suspend. What the back end adds is listed in wait.h;
 * it runs a unit by calling glt_shared_run on the unit's own stack. A back end's types.h says `typedef struct glt_shared_unit
 * *GLT_ult;` and the same for GLT_tasklet.
 *
 * One word of the record holds the state. Set by one side each, with acquire and release: ENDED by the unit as the last thing it
 * does with its record, JOINED or DETACHED by whoever claims the end, WAITED by the joiner that goes to sleep, TAKEN by the
 * joiner as the last thing it does with the record: only then may another one free it. Of ENDED and WAITED, and of ENDED and
 * DETACHED, one comes second and sees the other: it wakes the joiner, or gives the record back. */
#ifndef TRENCADIS_GLT_SHARED_UNIT_H
#define TRENCADIS_GLT_SHARED_UNIT_H

#include "attributes.h"
#include "counter.h"
#include "key.h"

#include <unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lies in the frame of glt_shared_run. */
struct glt_shared_frame {
    void* jump[5]; /* of __builtin_setjmp */
    struct _Unwind_Exception leaving;
};

struct glt_shared_process {
    int running;     /* between glt_init and glt_finalize */
    int num_threads; /* 0 otherwise */
    /* A yield looks closer when this is not 0: units cancelled so far that have not ended, one more once there was a tasklet, and
     * one while the library does not run. */
    uint32_t look_closer;
    uint32_t tasklets; /* 1: counted in look_closer */
    struct glt_shared_record* main_program;
};

GLT_SHARED_VARIABLE struct glt_shared_process glt_shared_process = {0, 0, 1, 0, NULL};

static inline GLT_ult glt_shared_handle(struct glt_shared_record* record) { return (GLT_ult)glt_shared_record_handle(record); }

/* Answers the state before. */
static inline uint32_t glt_shared_mark_cancelled(struct glt_shared_record* record)
{
    uint32_t old;
    __atomic_fetch_add(&glt_shared_leavers, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&glt_shared_process.look_closer, 1, __ATOMIC_RELEASE);
    old = __atomic_fetch_or(&record->state, GLT_SHARED_CANCELLED, __ATOMIC_SEQ_CST);
    if (old & (GLT_SHARED_CANCELLED | GLT_SHARED_ENDED)) {
        __atomic_fetch_sub(&glt_shared_process.look_closer, 1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&glt_shared_leavers, 1, __ATOMIC_RELEASE);
    }
    return old;
}

/* --- Leaving ----------------------------------------------------------------------------------------------------- */

/* Called before each frame on the way up, whose destructors of C++ then run. What it calls the CFA is the stack pointer inside
 * the frame: where it is that of glt_shared_run (__builtin_setjmp keeps it third), no frame of the user's is left. Stacks grow
 * down. */
GLT_SHARED_APART _Unwind_Reason_Code glt_shared_leave_frame(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                            struct _Unwind_Exception* exception, struct _Unwind_Context* context,
                                                            void* frame)
{
    struct glt_shared_frame* end = (struct glt_shared_frame*)frame;
    (void)version;
    (void)kind;
    (void)exception;
    if ((actions & _UA_END_OF_STACK) || _Unwind_GetCFA(context) >= (uintptr_t)end->jump[2]) __builtin_longjmp(end->jump, 1);
    return _URC_NO_REASON;
}

/* A catch (...) that did not throw again has swallowed the unit's end: it goes on, to its next yield or wait. */
GLT_SHARED_APART void glt_shared_swallowed(_Unwind_Reason_Code reason, struct _Unwind_Exception* exception)
{
    struct glt_shared_record* me = glt_shared_self();
    (void)reason;
    (void)exception;
    if (!me) return;
    __atomic_fetch_and(&me->state, ~(uint32_t)GLT_SHARED_LEAVING, __ATOMIC_RELAXED);
    glt_shared_mark_cancelled(me);
}

/* Ends the calling unit: destructors run, then glt_shared_run goes on after the function. */
__attribute__((noreturn)) GLT_SHARED_APART void glt_shared_leave(struct glt_shared_record* me)
{
    struct glt_shared_frame* frame = me->frame;
    glt_shared_record_mark(me, GLT_SHARED_LEAVING);
    memset(&frame->leaving, 0, sizeof frame->leaving);
    frame->leaving.exception_cleanup = glt_shared_swallowed;
    _Unwind_ForcedUnwind(&frame->leaving, glt_shared_leave_frame, frame);
    __builtin_longjmp(frame->jump, 1); /* a frame without unwind tables: what is left of the stack is dropped */
}

static inline void glt_shared_check_cancel(struct glt_shared_record* me)
{
    if (__builtin_expect(glt_shared_is_cancelled(me), 0) && me->frame) glt_shared_leave(me);
}

GLT_API void glt_ult_exit(void)
{
    struct glt_shared_record* me = glt_shared_self();
    if (me && me->frame) glt_shared_leave(me);
    else
        glt_shared_refuse("glt_ult_exit", GLT_ERROR_CONTEXT,
                          "called by the main program or a foreign thread; only a unit can exit");
}

/* The end of a unit; the record is the joiner's after it. */
static inline void glt_shared_end(struct glt_shared_record* me)
{
    struct glt_counter* count = me->count;
    uint32_t state;
    me->frame = NULL;
    if (me->values) {
        glt_shared_record_mark(me, GLT_SHARED_LEAVING); /* a destructor may wait, and is not to be cancelled */
        glt_shared_values_end(&me->values);
    }
    if (count) glt_counter_add(count, -1);
    state = __atomic_fetch_or(&me->state, GLT_SHARED_ENDED, __ATOMIC_SEQ_CST);
    if (state & GLT_SHARED_CANCELLED) {
        __atomic_fetch_sub(&glt_shared_process.look_closer, 1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&glt_shared_leavers, 1, __ATOMIC_RELEASE);
    }
    if (state & GLT_SHARED_WAITED) glt_shared_wake(me->joiner);
    else if (state & GLT_SHARED_DETACHED) glt_shared_record_release(me, glt_shared_thread());
    else if (state & GLT_SHARED_JOINED)
        glt_shared_nudge(); /* a join with a limit, which looks at the state; see glt_shared_wake */
}

#ifdef __cplusplus
#define GLT_SHARED_NOEXCEPT noexcept
#else
#define GLT_SHARED_NOEXCEPT
#endif

/* Runs a unit from its first to its last instruction. In C++ it lets no exception out: std::terminate says which one came here.
 */
GLT_SHARED_APART void glt_shared_run(struct glt_shared_record* me) GLT_SHARED_NOEXCEPT
{
    struct glt_shared_frame frame;
    me->frame = &frame;
    if (!(glt_shared_record_mark(me, GLT_SHARED_STARTED) & GLT_SHARED_CANCELLED)) {
        if (__builtin_setjmp(frame.jump) == 0) me->function(me->argument);
        else (void)glt_shared_exceptions_take(); /* what frames without unwind tables were handling */
    }
    me = glt_shared_self(); /* after a jump no register is to be trusted */
    glt_shared_end(me);
}

/* --- Creation ---------------------------------------------------------------------------------------------------- */

GLT_SHARED_APART int glt_shared_bad_thread(const char* function, int thread)
{
    const struct glt_shared_process* all = &glt_shared_process;
    if (!all->running) return glt_shared_null(function); /* which says so */
    return glt_shared_report(GLT_ERROR_VALUE, "%s: thread %d was asked for, there are 0 to %d", function, thread,
                             all->num_threads - 1);
}

GLT_SHARED_APART int glt_shared_bad_creation(const char* function, void (*body)(void*), int dest)
{
    if (!body) return glt_shared_refuse(function, GLT_ERROR_VALUE, "the function is null");
    return glt_shared_bad_thread(function, dest);
}

GLT_SHARED_APART void glt_shared_first_tasklet(void)
{
    if (!__atomic_exchange_n(&glt_shared_process.tasklets, 1, __ATOMIC_ACQ_REL))
        __atomic_fetch_add(&glt_shared_process.look_closer, 1, __ATOMIC_RELEASE);
}

/* A record of a new unit; dest GLT_ANY_THREAD or a thread. NULL after a report. */
static inline struct glt_shared_record* glt_shared_new(const char* function, void (*body)(void*), void* argument, int dest,
                                                       uint32_t bits)
{
    struct glt_shared_record* record;
    if (__builtin_expect(!body || !glt_shared_process.running || dest < GLT_ANY_THREAD || dest >= glt_shared_process.num_threads,
                         0)) {
        glt_shared_bad_creation(function, body, dest);
        return NULL;
    }
    record = glt_shared_record_take(glt_shared_thread());
    if (__builtin_expect(!record, 0)) {
        glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory for a unit", function);
        return NULL;
    }
    record->function = body;
    record->argument = argument;
    record->home = dest;
    if (bits) glt_shared_record_mark(record, bits);
    if (__builtin_expect((bits & GLT_SHARED_TASKLET) && !__atomic_load_n(&glt_shared_process.tasklets, __ATOMIC_RELAXED), 0))
        glt_shared_first_tasklet();
    return record;
}

/* Launches it; the handle is written first, since the unit may use it. */
static inline int glt_shared_start(const char* function, struct glt_shared_record* record, GLT_ult* unit)
{
    int status;
    if (unit) *unit = glt_shared_handle(record);
    status = glt_shared_launch(record);
    if (__builtin_expect(status != GLT_SUCCESS, 0)) {
        if (unit) *unit = NULL;
        glt_shared_record_release(record, glt_shared_thread());
        return glt_shared_report(status, "%s: %s", function,
                                 status == GLT_ERROR_MEMORY ? "no memory for a stack"
                                                            : "the system gives no more threads; fewer units at a time would do");
    }
    return GLT_SUCCESS;
}

static inline void glt_shared_create(const char* function, void (*body)(void*), void* argument, GLT_ult* unit, int dest,
                                     uint32_t bits)
{
    struct glt_shared_record* record = unit ? glt_shared_new(function, body, argument, dest, bits) : NULL;
    if (__builtin_expect(record != NULL, 1)) glt_shared_start(function, record, unit);
    else if (unit) *unit = NULL; /* there is no other answer */
    else glt_shared_no_place(function);
}

/* A thread given as a number must be one: GLT_ANY_THREAD is for glt_ult_create. */
static inline int glt_shared_named(int dest) { return dest < 0 ? -2 : dest; }

GLT_API void glt_ult_create(void (*function)(void*), void* arg, GLT_ult* unit)
{
    glt_shared_create("glt_ult_create", function, arg, unit, GLT_ANY_THREAD, 0);
}

GLT_API void glt_ult_create_to(void (*function)(void*), void* arg, GLT_ult* unit, int dest)
{
    glt_shared_create("glt_ult_create_to", function, arg, unit, glt_shared_named(dest), 0);
}

GLT_API void glt_tasklet_create(void (*function)(void*), void* arg, GLT_tasklet* tasklet)
{
    glt_shared_create("glt_tasklet_create", function, arg, tasklet, GLT_ANY_THREAD, GLT_SHARED_TASKLET);
}

GLT_API void glt_tasklet_create_to(void (*function)(void*), void* arg, GLT_tasklet* tasklet, int dest)
{
    glt_shared_create("glt_tasklet_create_to", function, arg, tasklet, glt_shared_named(dest), GLT_SHARED_TASKLET);
}

/* A stack of `size` bytes at least for the new unit, or a report. */
static inline int glt_shared_set_stack(const char* function, struct glt_shared_record* record, size_t size);

GLT_SHARED_APART int glt_shared_create_with(const char* name, void (*function)(void*), void* arg,
                                            const GLT_attributes* attributes, GLT_ult* unit, uint32_t bits)
{
    GLT_attributes standard;
    struct glt_shared_record* record;
    char wrong[128];
    int status;
    glt_attributes_init(&standard);
    if (!attributes) attributes = &standard;
    if (unit) *unit = NULL;
    if (glt_shared_wrong_attributes(attributes, (bits & GLT_SHARED_TASKLET) != 0, SIZE_MAX, wrong, sizeof wrong))
        return glt_shared_refuse(name, GLT_ERROR_VALUE, wrong);
    if (!unit && !attributes->detached)
        return glt_shared_refuse(name, GLT_ERROR_VALUE, "no place for the handle; only a detached unit needs none");
    if (attributes->detached) bits |= GLT_SHARED_DETACHED;
    record = glt_shared_new(name, function, arg, attributes->thread, bits);
    if (!record) return glt_shared_last_status();
    record->count = attributes->counter;
    record->name = attributes->name;
    status = GLT_SUCCESS;
    if (attributes->stack_size != 0 && !(bits & GLT_SHARED_TASKLET))
        status = glt_shared_set_stack(name, record, attributes->stack_size);
    if (status == GLT_SUCCESS && record->count) status = glt_counter_add(record->count, 1);
    if (status != GLT_SUCCESS) {
        glt_shared_record_release(record, glt_shared_thread());
        return status;
    }
    status = glt_shared_start(name, record, unit);
    if (status != GLT_SUCCESS && attributes->counter) glt_counter_add(attributes->counter, -1);
    return status;
}

GLT_API int glt_ult_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_ult* unit)
{
    return glt_shared_create_with("glt_ult_create_with", function, arg, attributes, unit, 0);
}

GLT_API int glt_tasklet_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_tasklet* tasklet)
{
    return glt_shared_create_with("glt_tasklet_create_with", function, arg, attributes, tasklet, GLT_SHARED_TASKLET);
}

/* --- Suspend and resume ------------------------------------------------------------------------------------------ */

/* The record's `suspension`: 0, 1 with a resume in store, 2 while suspended, 3 after a cancel has woken the unit. One whose
 * frames are being unwound is not ended by that: it is suspended again, unless a resume came meanwhile and made it 0. */
GLT_API int glt_ult_suspend(void)
{
    struct glt_shared_record* me = glt_shared_self();
    uint32_t old = 3;
    if (!me || (glt_shared_record_state(me) & GLT_SHARED_TASKLET))
        return glt_shared_refuse("glt_ult_suspend", GLT_ERROR_CONTEXT, "called by a tasklet or a foreign thread; only ULTs can");
    glt_shared_check_cancel(me);
    while (old == 3) {
        uint32_t none = 0, mine = 2;
        glt_shared_will_block(me);
        if (__atomic_compare_exchange_n(&me->suspension, &none, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
            if (!glt_shared_is_cancelled(me) || /* a cancel wakes whom it finds suspended; or it is seen here */
                !__atomic_compare_exchange_n(&me->suspension, &mine, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                glt_shared_block(me);
            else __atomic_fetch_and(&me->state, ~(uint32_t)GLT_SHARED_BLOCKED, __ATOMIC_RELAXED);
            old = 3;
            __atomic_compare_exchange_n(&me->suspension, &old, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
            glt_shared_check_cancel(me);
        } else {
            __atomic_fetch_and(&me->state, ~(uint32_t)GLT_SHARED_BLOCKED, __ATOMIC_RELAXED);
            __atomic_store_n(&me->suspension, 0, __ATOMIC_RELAXED);
            old = 1;
        }
    }
    return GLT_SUCCESS;
}

GLT_SHARED_APART int glt_shared_bad_handle(const char* function, const void* unit)
{
    if (!unit) return glt_shared_null(function);
    return glt_shared_refuse(function, GLT_ERROR_HANDLE, "the handle is of a unit that was freed or joined");
}

/* Out of 2 by the one resume that wakes. */
GLT_API int glt_ult_resume(GLT_ult unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    uint32_t old;
    if (__builtin_expect(!record, 0)) return glt_shared_bad_handle("glt_ult_resume", unit);
    old = __atomic_load_n(&record->suspension, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&record->suspension, &old, old >= 2 ? 0 : 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
    if (old == 2) glt_shared_wake_unit(record);
    return GLT_SUCCESS;
}

/* --- Cancel ------------------------------------------------------------------------------------------------------ */

/* The unit was not cancelled before. Whoever finds it suspended, or blocked in an open wait, wakes it. */
GLT_SHARED_APART void glt_shared_end_wait(struct glt_shared_record* record)
{
    uint32_t suspended = 2, state;
    if (__atomic_compare_exchange_n(&record->suspension, &suspended, 3, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
        glt_shared_wake_unit(record);
        return;
    }
    state = glt_shared_record_state(record);
    while (state & GLT_SHARED_OPEN) {
        uint32_t cut = (state & ~(uint32_t)(GLT_SHARED_BLOCKED | GLT_SHARED_OPEN)) | GLT_SHARED_CUT;
        if (!__atomic_compare_exchange_n(&record->state, &state, cut, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_add(&record->wakes, 1, __ATOMIC_RELAXED);
        glt_shared_release_unit(record);
        return;
    }
    glt_shared_nudge(); /* it may look at a word from time to time */
}

GLT_SHARED_APART void glt_shared_cancel(const char* function, const void* unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    if (!record) {
        glt_shared_bad_handle(function, unit);
    } else if (record == glt_shared_process.main_program) {
        glt_shared_report(GLT_ERROR_CONTEXT, "%s: the main program cannot be cancelled", function);
    } else {
        uint32_t old = glt_shared_mark_cancelled(record);
        if (!(old & (GLT_SHARED_CANCELLED | GLT_SHARED_ENDED))) glt_shared_end_wait(record);
    }
}

GLT_API void glt_ult_cancel(GLT_ult unit) { glt_shared_cancel("glt_ult_cancel", unit); }
GLT_API void glt_tasklet_cancel(GLT_tasklet tasklet) { glt_shared_cancel("glt_tasklet_cancel", tasklet); }

/* A yield while somebody is cancelled, or with tasklets about. 0: the caller has no others to let run. */
GLT_SHARED_APART int glt_shared_look_closer(const char* function)
{
    struct glt_shared_record* me = glt_shared_self();
    if (!glt_shared_process.running) {
        glt_shared_null(function); /* which says so */
        return 0;
    }
    if (!me) return 1;
    if (glt_shared_record_state(me) & GLT_SHARED_TASKLET) {
        glt_shared_report(GLT_ERROR_CONTEXT, "%s: a tasklet runs to its end and may not yield", function);
        return 0;
    }
    glt_shared_check_cancel(me);
    return 1;
}

/* --- Who am I ---------------------------------------------------------------------------------------------------- */

GLT_API void glt_ult_self(GLT_ult* unit)
{
    struct glt_shared_record* me = glt_shared_self();
    if (!GLT_SHARED_TELLS("glt_ult_self", unit)) return;
    *unit = me ? glt_shared_handle(me) : NULL;
}

GLT_API void glt_tasklet_self(GLT_tasklet* tasklet)
{
    struct glt_shared_record* me = glt_shared_self();
    if (!GLT_SHARED_TELLS("glt_tasklet_self", tasklet)) return;
    *tasklet = me && (glt_shared_record_state(me) & GLT_SHARED_TASKLET) ? glt_shared_handle(me) : NULL;
}

GLT_API void glt_ult_get_id(GLT_ult_id* id, GLT_ult unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    if (!GLT_SHARED_TELLS("glt_ult_get_id", id)) return;
    *id = 0;
    if (record) *id = glt_shared_record_id(record);
    else glt_shared_bad_handle("glt_ult_get_id", unit);
}

#ifdef __cplusplus
}
#endif

#endif
