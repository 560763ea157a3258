/* glt_init_with and glt_finalize. */
#ifndef TRENCADIS_GLT_ARGOBOTS_SETUP_H
#define TRENCADIS_GLT_ARGOBOTS_SETUP_H

#include "scheduler.h"
#include "special.h"
#include "wait.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int glt_argobots_setenv(const char* name, const char* value, int overwrite) __asm__("setenv");
extern int glt_argobots_unsetenv(const char* name) __asm__("unsetenv");

#define GLT_ARGOBOTS_GRACE 0.5 /* seconds in which a foreign thread may still wake a unit that waits at glt_finalize */

GLT_API int glt_initialized(void) { return glt_argobots.num_threads != 0; }
GLT_API const char* glt_backend_name(void) { return glt_argobots.num_threads ? "argobots" : ""; }

GLT_API int glt_can(int capability)
{
    switch (capability) {
    case GLT_CAN_GUARD:
    case GLT_CAN_CANCEL_WAITING: /* its own waits know nothing of a cancel */
    case GLT_CAN_SANITIZE: return GLT_CANNOT;
    case GLT_CAN_SUSPEND: /* a resume that comes first is kept by us */
    case GLT_CAN_KEY:     /* foreign threads' values and the time of destructors are ours */
    case GLT_CAN_IDLE_SPIN:
    case GLT_CAN_IDLE_SPIN_SLEEP:
    case GLT_CAN_IDLE_SLEEP: return GLT_EMULATED; /* the scheduler is ours */
    default: break;
    }
    if (capability >= 0 && capability < GLT_CAPABILITIES) return GLT_NATIVELY;
    glt_shared_report(GLT_ERROR_VALUE, "glt_can: capability is %d, not 0 to %d", capability, GLT_CAPABILITIES - 1);
    return GLT_CANNOT;
}

/* ABT_init with what it can only be told by its environment; the program's environment is afterwards as it was. */
static inline int glt_argobots_init_library(const struct glt_shared_environment* environment)
{
    static const char* const names[] = {"ABT_THREAD_STACKSIZE", "ABT_SET_AFFINITY", "ABT_MAX_NUM_XSTREAMS"};
    char texts[3][32], *kept[3];
    int error;
    snprintf(texts[0], sizeof texts[0], "%zu", environment->stack_size);
    snprintf(texts[1], sizeof texts[1], "0");
    snprintf(texts[2], sizeof texts[2], "%d", environment->num_threads);
    for (int i = 0; i < 3; ++i) {
        const char* value = getenv(names[i]);
        kept[i] = value ? (char*)malloc(strlen(value) + 1) : NULL;
        if (kept[i]) strcpy(kept[i], value);
        glt_argobots_setenv(names[i], texts[i], 1);
    }
    error = ABT_init(0, NULL);
    for (int i = 0; i < 3; ++i) {
        if (kept[i]) glt_argobots_setenv(names[i], kept[i], 1);
        else glt_argobots_unsetenv(names[i]);
        free(kept[i]);
    }
    return error;
}

static inline int glt_argobots_make_scheduler(ABT_sched* scheduler)
{
    ABT_sched_def definition;
    ABT_sched_config automatic = ABT_SCHED_CONFIG_NULL;
    ABT_pool none = ABT_POOL_NULL; /* Argobots asks its pools whether a stream may finish: an empty one of its own, not ours */
    int error;
    memset(&definition, 0, sizeof definition);
    definition.type = ABT_SCHED_TYPE_ULT;
    definition.run = glt_argobots_run;
    error = ABT_sched_config_create(&automatic, ABT_sched_config_automatic, 1, ABT_sched_config_var_end);
    if (error != ABT_SUCCESS) return error;
    error = ABT_sched_create(&definition, 1, &none, automatic, scheduler);
    ABT_sched_config_free(&automatic);
    return error;
}

static inline int glt_argobots_make_pools(void)
{
    /* Only a pool of the second kind wakes a stream that sleeps in it; the first is cheaper. */
    ABT_pool_kind strict = glt_argobots.environment.idle == GLT_IDLE_SPIN ? ABT_POOL_FIFO : ABT_POOL_FIFO_WAIT;
    int error = ABT_SUCCESS;
    for (int i = 0; i < glt_argobots.num_threads; ++i)
        glt_argobots.streams[i].strict = glt_argobots.streams[i].open = ABT_POOL_NULL;
    for (int i = 0; i < glt_argobots.num_threads && error == ABT_SUCCESS; ++i) {
        struct glt_argobots_stream* stream = &glt_argobots.streams[i];
        stream->looking = 1;
        stream->seed = (uint32_t)i * 2654435761u;
        error = ABT_pool_create_basic(strict, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &stream->strict);
        if (error == ABT_SUCCESS) error = ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &stream->open);
    }
    return error;
}

/* Streams 1 and up; answers how many there are, with stream 0. The new OS threads inherit the caller's processors, which is why
 * the caller is bound afterwards, by its own scheduler. */
static inline int glt_argobots_start_streams(int* error)
{
    for (int i = 1; i < glt_argobots.num_threads; ++i) {
        ABT_sched scheduler = ABT_SCHED_NULL;
        *error = glt_argobots_make_scheduler(&scheduler);
        if (*error == ABT_SUCCESS) *error = ABT_xstream_create_with_rank(scheduler, i, &glt_argobots.streams[i].self);
        if (*error != ABT_SUCCESS) {
            if (scheduler != ABT_SCHED_NULL) ABT_sched_free(&scheduler);
            return i;
        }
    }
    return glt_argobots.num_threads;
}

/* The main program moves to stream 0's strict pool, and stream 0 to our scheduler. */
static inline int glt_argobots_take_over(void)
{
    ABT_sched scheduler = ABT_SCHED_NULL;
    int error = glt_argobots_make_scheduler(&scheduler);
    if (error == ABT_SUCCESS) error = ABT_self_get_xstream(&glt_argobots.streams[0].self);
    if (error == ABT_SUCCESS) error = ABT_self_get_thread(&glt_argobots.main);
    if (error == ABT_SUCCESS) error = ABT_self_set_associated_pool(glt_argobots.streams[0].strict);
    if (error == ABT_SUCCESS) error = ABT_xstream_set_main_sched(glt_argobots.streams[0].self, scheduler);
    return error;
}

/* Ends the streams 1 to number - 1, the pools and Argobots. Nothing is ready any more. Stream 0 goes back to a scheduler of
 * Argobots', since ours would look into pools that are gone; units that wait for ever stay where they are, and nobody looks at
 * them again. */
static inline void glt_argobots_tear_down(int number)
{
    __atomic_store_n(&glt_argobots.draining, 1, __ATOMIC_RELEASE);
    for (int i = 1; i < number; ++i) { /* told all at once, so that they end at the same time */
        ABT_sched scheduler = ABT_SCHED_NULL;
        ABT_xstream_get_main_sched(glt_argobots.streams[i].self, &scheduler);
        ABT_sched_finish(scheduler);
        glt_argobots_wake(&glt_argobots.streams[i]);
    }
    for (int i = 1; i < number; ++i) ABT_xstream_free(&glt_argobots.streams[i].self);
    if (glt_argobots.streams[0].self) {
        ABT_pool last = ABT_POOL_NULL;
        ABT_xstream_get_main_pools(glt_argobots.streams[0].self, 1, &last);
        ABT_self_set_associated_pool(last);
        ABT_xstream_set_main_sched_basic(glt_argobots.streams[0].self, ABT_SCHED_BASIC, 1, NULL);
    }
    for (int i = 0; i < glt_argobots.num_threads; ++i) {
        if (glt_argobots.streams[i].strict != ABT_POOL_NULL) ABT_pool_free(&glt_argobots.streams[i].strict);
        if (glt_argobots.streams[i].open != ABT_POOL_NULL) ABT_pool_free(&glt_argobots.streams[i].open);
    }
    if (glt_argobots.suspended != ABT_KEY_NULL) ABT_key_free(&glt_argobots.suspended);
    if (glt_argobots.waiting != ABT_KEY_NULL) ABT_key_free(&glt_argobots.waiting);
    if (glt_argobots.special != ABT_KEY_NULL) ABT_key_free(&glt_argobots.special);
    ABT_finalize();
    if (glt_argobots.environment.bind) glt_argobots_unbind();
    free(glt_argobots.streams);
    glt_argobots.streams = NULL;
    glt_argobots.num_threads = 0;
    __atomic_store_n(&glt_argobots.draining, 0, __ATOMIC_RELEASE);
}

/* Makes what runs over Argobots, which is initialised; answers its error. */
static inline int glt_argobots_set_up(void)
{
    int error = glt_argobots_make_pools(), started = 1;
    glt_argobots.suspended = glt_argobots.waiting = glt_argobots.special = ABT_KEY_NULL;
    if (error == ABT_SUCCESS) error = ABT_key_create(NULL, &glt_argobots.suspended);
    if (error == ABT_SUCCESS) error = ABT_key_create(NULL, &glt_argobots.waiting);
    if (error == ABT_SUCCESS) error = ABT_key_create(glt_argobots_settle, &glt_argobots.special);
    if (error == ABT_SUCCESS) started = glt_argobots_start_streams(&error);
    if (error == ABT_SUCCESS) error = glt_argobots_take_over();
    if (error != ABT_SUCCESS) glt_argobots_tear_down(started);
    return error;
}

GLT_API int glt_init_with(const GLT_options* options)
{
    struct glt_shared_environment* environment = &glt_argobots.environment;
    size_t bytes;
    int status, error;
    if (glt_argobots.num_threads) return glt_shared_report(GLT_ERROR_STATE, "glt_init: called twice; glt_finalize comes between");
    if (ABT_initialized() == ABT_SUCCESS)
        return glt_shared_report(GLT_ERROR_STATE, "glt_init: Argobots was initialised before; GLT has to be the first");
    status = glt_shared_resolve("glt_init", "argobots", options, environment);
    if (status != GLT_SUCCESS) return status;
    bytes = (size_t)environment->num_threads * sizeof(struct glt_argobots_stream);
    glt_argobots.streams = (struct glt_argobots_stream*)aligned_alloc(128, bytes);
    if (!glt_argobots.streams)
        return glt_shared_report(GLT_ERROR_MEMORY, "glt_init: no memory for %d threads", environment->num_threads);
    memset((void*)glt_argobots.streams, 0, bytes);
    error = glt_argobots_init_library(environment);
    if (error == ABT_SUCCESS) {
        glt_argobots.num_threads = environment->num_threads;
        error = glt_argobots_set_up();
    } else {
        free(glt_argobots.streams);
        glt_argobots.streams = NULL;
    }
    glt_argobots.first_id += (uint64_t)1 << 40;
    return error == ABT_SUCCESS ? GLT_SUCCESS : glt_argobots_failed("glt_init", error);
}

/* Whether stream i has nothing to run; waits a little for one that is just looking. */
static inline int glt_argobots_idles(int i)
{
    for (int tries = 0; tries < 50; ++tries) {
        if (!__atomic_load_n(&glt_argobots.streams[i].looking, __ATOMIC_SEQ_CST)) return 1;
        glt_shared_sched_yield();
    }
    return 0;
}

/* Nothing is ready and nothing runs but the caller, the main program. A stream idles only after an empty look, and counts what it
 * begins: if all idled before the pools were seen empty and idle afterwards with the same count, no unit ran in between that
 * could have made another ready. */
static inline int glt_argobots_is_quiet(void)
{
    uint32_t before = 0, after = 0;
    for (int i = 1; i < glt_argobots.num_threads; ++i) {
        if (!glt_argobots_idles(i)) return 0;
        before += __atomic_load_n(&glt_argobots.streams[i].begun, __ATOMIC_SEQ_CST);
    }
    for (int i = 0; i < glt_argobots.num_threads; ++i) {
        size_t strict = 0, open = 0;
        ABT_pool_get_size(glt_argobots.streams[i].strict, &strict);
        ABT_pool_get_size(glt_argobots.streams[i].open, &open);
        if (strict + open > 0) return 0;
    }
    for (int i = 1; i < glt_argobots.num_threads; ++i) {
        if (!glt_argobots_idles(i)) return 0;
        after += __atomic_load_n(&glt_argobots.streams[i].begun, __ATOMIC_SEQ_CST);
    }
    return before == after;
}

/* Units that are neither ready nor running; those of ours that wait for a detached one not counted. */
static inline long glt_argobots_waiting(void)
{
    long waiting = 0;
    for (int i = 0; i < glt_argobots.num_threads; ++i) {
        size_t strict = 0, open = 0;
        ABT_pool_get_total_size(glt_argobots.streams[i].strict, &strict);
        ABT_pool_get_total_size(glt_argobots.streams[i].open, &open);
        waiting += (long)(strict + open);
    }
    return waiting - (long)__atomic_load_n(&glt_argobots.reapers, __ATOMIC_RELAXED);
}

/* Runs what is ready, and gives what waits some time; answers with the number of units that still wait. */
static inline long glt_argobots_drain(void)
{
    double end = 0;
    __atomic_store_n(&glt_argobots.draining, 1, __ATOMIC_RELEASE);
    for (int i = 1; i < glt_argobots.num_threads; ++i) glt_argobots_wake(&glt_argobots.streams[i]);
    for (;;) {
        uint32_t nothing = 0;
        ABT_thread_yield();
        glt_argobots_until_timer(0); /* stream 0 does not idle while the main program yields */
        if (__atomic_load_n(&glt_argobots_timers.count, __ATOMIC_ACQUIRE) > 0) {
            glt_shared_futex_wait(&nothing, 0, 1e-5); /* a unit with a limit does not wait for ever */
        } else if (glt_argobots_is_quiet()) {
            if (glt_argobots_waiting() <= 0) return 0;
            if (end == 0) end = glt_shared_now() + GLT_ARGOBOTS_GRACE;
            if (glt_shared_now() >= end) return glt_argobots_waiting();
            glt_shared_futex_wait(&nothing, 0, 1e-3);
        }
    }
}

/* The names of units that wait for ever, as far as they have one; their records go. */
static inline void glt_argobots_report_waiting(long waiting)
{
    char names[160] = "";
    size_t length = 0;
    for (struct glt_argobots_special* each = glt_argobots_keys.named; each; each = each->after) {
        int more = snprintf(names + length, sizeof names - length, "%s\"%s\"", length ? ", " : ": ", each->name);
        if (more > 0 && length + (size_t)more < sizeof names) length += (size_t)more;
        else names[length] = '\0';
    }
    while (glt_argobots_keys.named) {
        struct glt_argobots_special* gone = glt_argobots_keys.named;
        glt_argobots_keys.named = gone->after;
        free(gone);
    }
    glt_shared_report(GLT_ERROR_STATE, "glt_finalize: %ld unit%s for ever and dropped%s", waiting,
                      waiting == 1 ? " waits" : "s wait", names);
}

GLT_API void glt_finalize(void)
{
    ABT_bool main = ABT_FALSE;
    long waiting;
    if (!glt_argobots.num_threads) {
        glt_shared_report(GLT_ERROR_STATE, "glt_finalize: called before glt_init");
        return;
    }
    ABT_self_is_primary(&main);
    if (!main) {
        glt_shared_report(GLT_ERROR_CONTEXT, "glt_finalize: not called by the main program, which called glt_init");
        return;
    }
    waiting = glt_argobots_drain();
    glt_argobots_destroy_values();
    if (waiting > 0) glt_argobots_report_waiting(waiting);
    glt_argobots_tear_down(glt_argobots.num_threads);
    glt_argobots.reapers = glt_argobots.sleepers = 0;
}

#ifdef __cplusplus
}
#endif

#endif
