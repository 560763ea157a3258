/* Work units. Of bad input only this is not found: joined and freed handles through copies, and a second join, which returns at
 * once.
 *
 * A unit given to glt_ult_cancel that waits for a mutex, a condition, a barrier or another unit ends when it is woken; one
 * suspended by glt_ult_suspend is woken for it. If it had begun, its counter (GLT_attributes) is counted down when it is freed.
 * glt_ult_exit leaves C++ destructors out. */
#ifndef TRENCADIS_GLT_ARGOBOTS_UNITS_H
#define TRENCADIS_GLT_ARGOBOTS_UNITS_H

#include "../shared/attributes.h"
#include "gate.h"
#include "special.h"
#include "suspend.h"
#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int glt_argobots_create_in(ABT_pool pool, int tasklet, void (*function)(void*), void* arg, ABT_thread* unit)
{
    return tasklet ? ABT_task_create(pool, function, arg, unit)
                   : ABT_thread_create(pool, function, arg, ABT_THREAD_ATTR_NULL, unit);
}

__attribute__((cold)) GLT_SHARED_APART void glt_argobots_not_created(const char* caller, int error, ABT_thread* unit)
{
    *unit = NULL;
    glt_argobots_failed(caller, error);
}

GLT_SHARED_APART void glt_argobots_create_special(const char* caller, ABT_pool pool, int tasklet, void (*function)(void*),
                                                  void* arg, ABT_thread* unit)
{
    struct glt_argobots_special* special = glt_argobots_special(caller, function, arg, NULL);
    int error;
    *unit = NULL;
    if (!special) return;
    error = glt_argobots_create_in(pool, tasklet, glt_argobots_start, special, unit);
    if (error == ABT_SUCCESS) return;
    glt_argobots_settle(special);
    glt_argobots_not_created(caller, error, unit);
}

/* Where a new unit goes: `dest`, or GLT_ANY_THREAD; NULL, after a report, when the call is wrong. */
__attribute__((cold)) GLT_SHARED_APART struct glt_argobots_stream* glt_argobots_bad_creation(const char* caller,
                                                                                             void (*function)(void*), int dest,
                                                                                             ABT_thread* unit)
{
    if (unit) *unit = NULL;
    if (!glt_argobots.num_threads) glt_shared_null(caller); /* which says so */
    else if (!function) glt_shared_report(GLT_ERROR_VALUE, "%s: the function is null", caller);
    else if (!unit) glt_shared_no_place(caller);
    else
        glt_shared_report(GLT_ERROR_VALUE, "%s: thread %d was asked for, there are 0 to %d", caller, dest,
                          glt_argobots.num_threads - 1);
    return NULL;
}

static inline struct glt_argobots_stream* glt_argobots_stream_for(const char* caller, void (*function)(void*), ABT_thread* unit)
{
    if (__builtin_expect(!function || !unit || !glt_argobots.num_threads, 0))
        return glt_argobots_bad_creation(caller, function, GLT_ANY_THREAD, unit);
    return glt_argobots_near();
}

static inline struct glt_argobots_stream* glt_argobots_stream_of(const char* caller, void (*function)(void*), int dest,
                                                                 ABT_thread* unit)
{
    if (__builtin_expect(!function || !unit || (unsigned)dest >= (unsigned)glt_argobots.num_threads, 0))
        return glt_argobots_bad_creation(caller, function, dest, unit);
    return &glt_argobots.streams[dest];
}

static inline void glt_argobots_create(const char* caller, ABT_pool pool, int tasklet, void (*function)(void*), void* arg,
                                       ABT_thread* unit)
{
    int error;
    if (__builtin_expect(__atomic_load_n(&glt_argobots.destructors, __ATOMIC_RELAXED) != 0, 0)) {
        glt_argobots_create_special(caller, pool, tasklet, function, arg, unit);
        return;
    }
    error = glt_argobots_create_in(pool, tasklet, function, arg, unit);
    if (__builtin_expect(error != ABT_SUCCESS, 0)) glt_argobots_not_created(caller, error, unit);
}

GLT_API void glt_ult_create(void (*function)(void*), void* arg, GLT_ult* unit)
{
    struct glt_argobots_stream* stream = glt_argobots_stream_for("glt_ult_create", function, unit);
    if (!stream) return;
    glt_argobots_create("glt_ult_create", stream->open, 0, function, arg, unit);
    glt_argobots_pushed(stream);
}

GLT_API void glt_ult_create_to(void (*function)(void*), void* arg, GLT_ult* unit, int dest)
{
    struct glt_argobots_stream* stream = glt_argobots_stream_of("glt_ult_create_to", function, dest, unit);
    if (stream) glt_argobots_create("glt_ult_create_to", stream->strict, 0, function, arg, unit);
}

GLT_API void glt_tasklet_create(void (*function)(void*), void* arg, GLT_tasklet* tasklet)
{
    struct glt_argobots_stream* stream = glt_argobots_stream_for("glt_tasklet_create", function, tasklet);
    if (!stream) return;
    glt_argobots_create("glt_tasklet_create", stream->open, 1, function, arg, tasklet);
    glt_argobots_pushed(stream);
}

GLT_API void glt_tasklet_create_to(void (*function)(void*), void* arg, GLT_tasklet* tasklet, int dest)
{
    struct glt_argobots_stream* stream = glt_argobots_stream_of("glt_tasklet_create_to", function, dest, tasklet);
    if (stream) glt_argobots_create("glt_tasklet_create_to", stream->strict, 1, function, arg, tasklet);
}

/* Frees a unit nobody joins, when it ends. */
GLT_SHARED_APART void glt_argobots_reap(void* unit)
{
    ABT_thread handle = (ABT_thread)unit;
    ABT_thread_free(&handle);
    __atomic_fetch_sub(&glt_argobots.reapers, 1, __ATOMIC_RELAXED);
}

GLT_SHARED_APART int glt_argobots_detach(const char* caller, ABT_thread* unit)
{
    struct glt_argobots_stream* stream;
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    int error;
    if (__builtin_expect(!unit || !*unit, 0)) return glt_shared_null(caller);
    stream = glt_argobots_near();
    error = ABT_thread_get_state(*unit, &state);
    if (error == ABT_SUCCESS && state == ABT_THREAD_STATE_TERMINATED) {
        error = ABT_thread_free(unit);
    } else if (error == ABT_SUCCESS) {
        __atomic_fetch_add(&glt_argobots.reapers, 1, __ATOMIC_RELAXED);
        error = ABT_thread_create(stream->open, glt_argobots_reap, (void*)*unit, ABT_THREAD_ATTR_NULL, NULL);
        if (error != ABT_SUCCESS) __atomic_fetch_sub(&glt_argobots.reapers, 1, __ATOMIC_RELAXED);
        else glt_argobots_pushed(stream);
    }
    if (error != ABT_SUCCESS) return glt_argobots_failed(caller, error);
    *unit = NULL;
    return GLT_SUCCESS;
}

GLT_API int glt_ult_detach(GLT_ult* unit) { return glt_argobots_detach("glt_ult_detach", unit); }
GLT_API int glt_tasklet_detach(GLT_tasklet* tasklet) { return glt_argobots_detach("glt_tasklet_detach", tasklet); }

static inline int glt_argobots_create_sized(ABT_pool pool, int tasklet, size_t stack_size, void (*function)(void*), void* arg,
                                            ABT_thread* unit)
{
    ABT_thread_attr attributes = ABT_THREAD_ATTR_NULL;
    int error;
    if (tasklet || stack_size == 0 || stack_size == glt_argobots.environment.stack_size)
        return glt_argobots_create_in(pool, tasklet, function, arg, unit);
    error = ABT_thread_attr_create(&attributes);
    if (error != ABT_SUCCESS) return error;
    ABT_thread_attr_set_stacksize(attributes, (stack_size + 4095) / 4096 * 4096);
    error = ABT_thread_create(pool, function, arg, attributes, unit);
    ABT_thread_attr_free(&attributes);
    return error;
}

GLT_SHARED_APART int glt_argobots_create_with(const char* caller, int tasklet, void (*function)(void*), void* arg,
                                              const GLT_attributes* attributes, ABT_thread* unit)
{
    GLT_attributes standard;
    struct glt_argobots_special* special = NULL;
    struct glt_argobots_stream* stream;
    ABT_thread handle = NULL;
    char wrong[128];
    int unnamed, error;
    glt_attributes_init(&standard);
    if (!attributes) attributes = &standard;
    if (!glt_argobots.num_threads || !function || (!unit && !attributes->detached)) {
        glt_argobots_bad_creation(caller, function, GLT_ANY_THREAD, unit);
        return glt_shared_last_status();
    }
    if (unit) *unit = NULL;
    if (attributes->thread < GLT_ANY_THREAD || attributes->thread >= glt_argobots.num_threads)
        return glt_shared_report(GLT_ERROR_VALUE, "%s: thread is %d, not GLT_ANY_THREAD or 0 to %d", caller, attributes->thread,
                                 glt_argobots.num_threads - 1);
    if (glt_shared_wrong_attributes(attributes, tasklet, GLT_SHARED_STACK_MAX, wrong, sizeof wrong))
        return glt_shared_refuse(caller, GLT_ERROR_VALUE, wrong);
    unnamed = attributes->detached && !unit;
    stream = attributes->thread == GLT_ANY_THREAD ? glt_argobots_near() : &glt_argobots.streams[attributes->thread];
    if (attributes->counter || attributes->name || glt_argobots.destructors) {
        special = glt_argobots_special(caller, function, arg, attributes);
        if (!special) return GLT_ERROR_MEMORY;
        function = glt_argobots_start;
        arg = special;
    }
    error = glt_argobots_create_sized(attributes->placement == GLT_PLACE_STRICT ? stream->strict : stream->open, tasklet,
                                      attributes->stack_size, function, arg, unnamed ? NULL : &handle);
    if (error != ABT_SUCCESS) {
        if (special) glt_argobots_settle(special);
        return glt_argobots_failed(caller, error);
    }
    glt_argobots_pushed(stream);
    if (unit) *unit = handle;
    return attributes->detached && unit ? glt_argobots_detach(caller, &handle) : GLT_SUCCESS;
}

GLT_API int glt_ult_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_ult* unit)
{
    return glt_argobots_create_with("glt_ult_create_with", 0, function, arg, attributes, unit);
}

GLT_API int glt_tasklet_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_tasklet* tasklet)
{
    return glt_argobots_create_with("glt_tasklet_create_with", 1, function, arg, attributes, tasklet);
}

/* With `freed`, the unit is freed as well and its handle becomes null. */
GLT_SHARED_APART int glt_argobots_join(const char* caller, ABT_thread* unit, int freed)
{
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    int error, status = GLT_SUCCESS;
    if (__builtin_expect(!unit || !*unit, 0)) return glt_shared_null(caller);
    ABT_thread_get_state(*unit, &state);
    if (state != ABT_THREAD_STATE_TERMINATED) status = glt_argobots_may_wait(caller);
    if (status != GLT_SUCCESS) return status;
    GLT_SHARED_SWITCH(error = freed ? ABT_thread_free(unit) : ABT_thread_join(*unit));
    if (error != ABT_SUCCESS)
        return glt_shared_report(GLT_ERROR_CONTEXT, "%s: the unit is the caller or the main program, which cannot be joined",
                                 caller);
    if (freed) *unit = NULL; /* Argobots' null is another */
    return GLT_SUCCESS;
}

static inline int glt_status_of_ult_join(GLT_ult* unit) { return glt_argobots_join("glt_ult_join", unit, 0); }
static inline int glt_status_of_tasklet_join(GLT_tasklet* tasklet) { return glt_argobots_join("glt_tasklet_join", tasklet, 0); }
static inline int glt_status_of_ult_free(GLT_ult* unit) { return glt_argobots_join("glt_ult_free", unit, 1); }
static inline int glt_status_of_tasklet_free(GLT_tasklet* tasklet) { return glt_argobots_join("glt_tasklet_free", tasklet, 1); }
GLT_API void glt_ult_join(GLT_ult* unit) { glt_status_of_ult_join(unit); }
GLT_API void glt_tasklet_join(GLT_tasklet* tasklet) { glt_status_of_tasklet_join(tasklet); }
GLT_API void glt_ult_free(GLT_ult* unit) { glt_status_of_ult_free(unit); }
GLT_API void glt_tasklet_free(GLT_tasklet* tasklet) { glt_status_of_tasklet_free(tasklet); }

__attribute__((cold)) GLT_SHARED_APART void glt_argobots_yield_elsewhere(const char* caller)
{
    if (glt_initialized()) glt_shared_sched_yield();
    else glt_shared_null(caller); /* which says so */
}

GLT_API void glt_yield(void)
{
    int error;
    GLT_SHARED_SWITCH(error = ABT_self_yield());
    if (__builtin_expect(error != ABT_SUCCESS, 0)) glt_argobots_yield_elsewhere("glt_yield");
}

static inline int glt_argobots_try_join(const char* caller, ABT_thread* unit)
{
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    if (__builtin_expect(!unit || !*unit, 0)) return glt_shared_null(caller);
    ABT_thread_get_state(*unit, &state);
    return state == ABT_THREAD_STATE_TERMINATED ? GLT_SUCCESS : GLT_BUSY;
}

GLT_API int glt_ult_try_join(GLT_ult* unit) { return glt_argobots_try_join("glt_ult_try_join", unit); }

GLT_API int glt_tasklet_try_join(GLT_tasklet* tasklet) { return glt_argobots_try_join("glt_tasklet_try_join", tasklet); }

GLT_SHARED_APART int glt_argobots_join_for(const char* caller, ABT_thread* unit, double seconds)
{
    double end = glt_shared_now() + seconds;
    if (__builtin_expect(!unit || !*unit, 0)) return glt_shared_null(caller);
    if (!(seconds >= 0)) return glt_shared_report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", caller, seconds);
    for (unsigned step = 0; glt_argobots_try_join(caller, unit) != GLT_SUCCESS; ++step) {
        double left = end - glt_shared_now();
        int status = step ? GLT_SUCCESS : glt_argobots_may_wait(caller);
        if (status != GLT_SUCCESS) return status;
        if (left <= 0) return GLT_TIMEOUT;
        glt_argobots_poll(step, left);
    }
    return GLT_SUCCESS;
}

GLT_API int glt_ult_join_for(GLT_ult* unit, double seconds) { return glt_argobots_join_for("glt_ult_join_for", unit, seconds); }

GLT_API int glt_tasklet_join_for(GLT_tasklet* tasklet, double seconds)
{
    return glt_argobots_join_for("glt_tasklet_join_for", tasklet, seconds);
}

/* May run here: it is in a pool of this thread, or in an open one. */
static inline int glt_argobots_may_run_here(ABT_thread unit, int rank)
{
    ABT_pool pool = ABT_POOL_NULL;
    if (rank < 0 || ABT_thread_get_last_pool(unit, &pool) != ABT_SUCCESS) return 0;
    if (pool == glt_argobots.streams[rank].open || pool == glt_argobots.streams[rank].strict) return 1;
    for (int i = 0; i < glt_argobots.num_threads; ++i)
        if (pool == glt_argobots.streams[i].open) return 1;
    return 0;
}

GLT_API void glt_yield_to(GLT_ult unit)
{
    ABT_thread_state state = ABT_THREAD_STATE_RUNNING;
    struct glt_shared_exceptions mine;
    if (__builtin_expect(!unit, 0)) {
        glt_shared_null("glt_yield_to");
        return;
    }
    mine = glt_shared_exceptions_take();
    ABT_thread_get_state(unit, &state);
    if (state != ABT_THREAD_STATE_READY || !glt_argobots_may_run_here(unit, glt_argobots_rank()) ||
        ABT_thread_yield_to(unit) != ABT_SUCCESS)
        ABT_thread_yield();
    glt_shared_exceptions_put(mine);
}

GLT_API void glt_ult_exit(void)
{
    ABT_thread self = ABT_THREAD_NULL;
    struct glt_shared_exceptions mine;
    ABT_thread_self(&self);
    if (self != ABT_THREAD_NULL && glt_argobots_is_special(self)) glt_argobots_end();
    mine = glt_shared_exceptions_take();
    ABT_self_exit();
    glt_shared_exceptions_put(mine);
    glt_shared_refuse("glt_ult_exit", GLT_ERROR_CONTEXT,
                      "called by the main program, a tasklet or a foreign thread, not by a ULT");
}

GLT_API void glt_ult_cancel(GLT_ult unit)
{
    ABT_thread_state state = ABT_THREAD_STATE_RUNNING;
    int unused;
    if (!GLT_SHARED_HAS("glt_ult_cancel", unit)) return;
    ABT_thread_cancel(unit);
    if (glt_argobots_is_special(unit)) glt_argobots_cancel_special(unit);
    if (glt_argobots_end_wait(unit) || glt_argobots_resume(unit, 0, &unused)) return; /* in this order: see suspend.h */
    ABT_thread_get_state(unit, &state);
    if (state == ABT_THREAD_STATE_BLOCKED)
        glt_shared_report(GLT_ERROR_UNSUPPORTED,
                          "glt_ult_cancel: the unit waits in a mutex, condition, barrier or join; Argobots ends it after that");
}

GLT_API void glt_tasklet_cancel(GLT_tasklet tasklet)
{
    if (!GLT_SHARED_HAS("glt_tasklet_cancel", tasklet)) return;
    ABT_thread_cancel(tasklet);
    if (glt_argobots_is_special(tasklet)) glt_argobots_cancel_special(tasklet);
}

GLT_API void glt_ult_self(GLT_ult* unit)
{
    if (!GLT_SHARED_TELLS("glt_ult_self", unit)) return;
    *unit = NULL;
    ABT_self_get_thread(unit);
}

GLT_API void glt_tasklet_self(GLT_tasklet* tasklet)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    if (!GLT_SHARED_TELLS("glt_tasklet_self", tasklet)) return;
    *tasklet = NULL;
    ABT_self_get_type(&type);
    if (type == ABT_UNIT_TYPE_TASK) ABT_self_get_thread(tasklet);
}

/* Argobots gives an id to who first asks for it, without a lock. */
GLT_API void glt_ult_get_id(GLT_ult_id* id, GLT_ult unit)
{
    ABT_unit_id number = 0;
    uint32_t* lock = glt_argobots_lock_of(unit);
    if (!GLT_SHARED_TELLS("glt_ult_get_id", id)) return;
    *id = 0;
    if (!GLT_SHARED_HAS("glt_ult_get_id", unit)) return;
    glt_shared_lock(lock);
    ABT_thread_get_id(unit, &number);
    glt_shared_unlock(lock);
    *id = glt_argobots.first_id + number;
}

GLT_API void glt_workunit_get_thread_id(GLT_thread_id* id)
{
    if (GLT_SHARED_TELLS("glt_workunit_get_thread_id", id)) *id = glt_argobots_rank();
}

GLT_API int glt_get_thread_num(void) { return glt_argobots_rank(); }
GLT_API int glt_get_num_threads(void) { return glt_argobots.num_threads; }

/* Moves the calling unit to thread `id`, where it stays from then on. */
GLT_API void glt_ult_migrate_self_to(GLT_thread_id id)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    ABT_bool main = ABT_FALSE;
    int rank = glt_argobots_rank();
    ABT_self_get_type(&type);
    ABT_self_is_primary(&main);
    if (!glt_argobots.num_threads) {
        glt_shared_null("glt_ult_migrate_self_to"); /* which says so */
    } else if (id < 0 || id >= glt_argobots.num_threads) {
        glt_shared_report(GLT_ERROR_VALUE, "glt_ult_migrate_self_to: thread is %d, not 0 to %d", id,
                          glt_argobots.num_threads - 1);
    } else if (type != ABT_UNIT_TYPE_THREAD) {
        glt_shared_report(GLT_ERROR_CONTEXT, "glt_ult_migrate_self_to: called by a tasklet or a foreign thread, not by a ULT");
    } else if (main && id != rank) {
        glt_shared_report(GLT_ERROR_CONTEXT, "glt_ult_migrate_self_to: the main program stays on thread 0");
    } else {
        ABT_self_set_associated_pool(glt_argobots.streams[id].strict);
        if (id != rank) GLT_SHARED_SWITCH(ABT_thread_yield());
    }
}

#ifdef __cplusplus
}
#endif

#endif
