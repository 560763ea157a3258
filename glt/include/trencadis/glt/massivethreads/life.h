/* MassiveThreads: how units begin, block and are woken (the list in shared/wait.h), and the start and end of the library. */
#ifndef TRENCADIS_GLT_MASSIVETHREADS_LIFE_H
#define TRENCADIS_GLT_MASSIVETHREADS_LIFE_H

#include "workers.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int glt_shared_set_stack(const char* function, struct glt_shared_record* record, size_t size)
{
    if (size > GLT_SHARED_STACK_MAX)
        return glt_shared_report(GLT_ERROR_VALUE, "%s: stack_size is %zu bytes; at most %zu is right", function, size,
                                 GLT_SHARED_STACK_MAX);
    record->stack_size = size > glt_myth.environment.stack_size ? size : 0;
    return GLT_SUCCESS;
}

/* The last use may have been one of those that glt_finalize drops while they are blocked. */
static inline void glt_myth_reset(struct glt_shared_record* unit)
{
    unit->queued = 0;
    unit->park = 0;
    unit->sleep.th = NULL;
}

static inline int glt_shared_launch(struct glt_shared_record* unit)
{
    int rank = glt_shared_thread();
    glt_myth_reset(unit);
    if (rank < 0 || (unit->home >= 0 && unit->home != rank)) {
        glt_myth_post(glt_myth_inbox_of(unit), unit);
    } else {
        if (__builtin_expect(glt_myth_full(rank), 0)) GLT_SHARED_SWITCH(glt_myth_bear(unit, rank, 1));
        else glt_myth_bear(unit, rank, 0);
        glt_myth_wake_idle(1);
    }
    return GLT_SUCCESS;
}

/* A record's `park` is 0, 1 after a release that came before its block, 2 while blocked, or about to be, on the library's
 * variable. */
GLT_SHARED_APART void glt_shared_block(struct glt_shared_record* me)
{
    uint32_t none = 0;
    if (__atomic_compare_exchange_n(&me->park, &none, 2, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        GLT_SHARED_SWITCH(myth_uncond_wait(&me->sleep));
        glt_myth_discount(me);
    } else {
        __atomic_store_n(&me->park, 0, __ATOMIC_RELEASE);
    }
}

/* The thread of a unit whose `park` was 2. It may still be on its way off another worker: the library shows it once it is. */
GLT_SHARED_APART myth_thread_t glt_myth_blocked(struct glt_shared_record* unit)
{
    for (unsigned looks = 1;; ++looks) {
        myth_thread_t thread = __atomic_load_n(&unit->sleep.th, __ATOMIC_ACQUIRE);
        if (thread) return thread;
        if (looks % 64 == 0) glt_shared_sched_yield();
        else glt_shared_pause();
    }
}

GLT_SHARED_APART void glt_shared_release_unit(struct glt_shared_record* unit)
{
    uint32_t none = 0;
    int rank = glt_shared_thread();
    myth_thread_t thread;
    if (__atomic_compare_exchange_n(&unit->park, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    thread = glt_myth_blocked(unit);
    __atomic_store_n(&unit->park, 0, __ATOMIC_RELEASE);
    if (rank >= 0 && (unit->home < 0 || unit->home == rank) && !glt_myth_full(rank)) {
        glt_myth_count(unit, rank);
        myth_uncond_signal(&unit->sleep);
        glt_myth_wake_idle(1);
    } else {
        unit->sleep.th = NULL;
        unit->library = thread;
        glt_myth_post(glt_myth_inbox_of(unit), unit);
    }
}

static inline void glt_shared_polls(const struct glt_shared_record* me, int change)
{
    (void)me;
    (void)change;
}

static inline void glt_shared_end_naps(void) { glt_myth_wake_idle(INT_MAX); }

/* Own work comes to this worker's queue by itself only, and other's through the hook's inboxes, which are looked at once more. */
GLT_SHARED_APART void glt_shared_nap(const uint32_t* word, uint32_t bits, double seconds)
{
    struct glt_myth* all = &glt_myth;
    int rank = glt_shared_thread();
    uint32_t epoch = __atomic_load_n(&all->epoch, __ATOMIC_SEQ_CST);
    int ready;
    __atomic_fetch_add(&all->sleepers, 1, __ATOMIC_SEQ_CST);
    ready = rank >= 0 && (__atomic_load_n(&all->inbox.first, __ATOMIC_SEQ_CST) ||
                          __atomic_load_n(&all->workers[rank].inbox.first, __ATOMIC_SEQ_CST));
    if (!ready && !(__atomic_load_n(word, __ATOMIC_SEQ_CST) & bits)) glt_shared_futex_wait(&all->epoch, epoch, seconds);
    __atomic_fetch_sub(&all->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* --- Moving to another worker --------------------------------------------------------------------------------------- */

GLT_SHARED_APART void* glt_myth_mover(void* unit)
{
    myth_detach(myth_self());
    glt_shared_wake_unit((struct glt_shared_record*)unit);
    return NULL;
}

/* Another thread of the library, without a record, wakes the caller, whose home then is the other worker. */
GLT_SHARED_APART void glt_myth_move(struct glt_shared_record* me, int home)
{
    struct glt_shared_record* nobody = NULL;
    myth_thread_attr_t attributes;
    myth_thread_t mover = NULL;
    me->home = home;
    if (home == glt_shared_thread()) return;
    memset(&attributes, 0, sizeof attributes);
    attributes.custom_data_size = sizeof nobody;
    attributes.custom_data = &nobody;
    glt_shared_will_block(me);
    myth_create_ex(&mover, &attributes, glt_myth_mover, me);
    glt_shared_block(me);
}

/* --- Start and end ------------------------------------------------------------------------------------------------ */

/* The main program as a unit: a record of its own, which nobody joins, bound to worker 0. */
static inline int glt_myth_adopt_main(void)
{
    struct glt_shared_process* all = &glt_shared_process;
    void* slot = &glt_myth.main_slot;
    size_t size = sizeof glt_myth.main_slot;
    all->main_program->home = 0;
    all->main_program->frame = NULL;
    glt_myth_reset(all->main_program);
    all->main_program->name = "the main program";
    glt_shared_record_mark(all->main_program, GLT_SHARED_STARTED | GLT_SHARED_JOINED);
    glt_myth.main_slot = all->main_program;
    myth_wsapi_set_hint(myth_self(), &slot, &size);
    return 1;
}

/* Not 0 while the library runs. Not in its headers, and only looked at where the library shows it. */
extern volatile int glt_myth_library_state __asm__("g_myth_init_state") __attribute__((weak));

static inline int glt_myth_runs_already(void) { return &glt_myth_library_state != NULL && glt_myth_library_state != 0; }

/* Everything the hook needs is there before the library starts its workers. 0 when there is no memory. */
static inline int glt_myth_prepare(const struct glt_shared_environment* environment)
{
    struct glt_myth* all = &glt_myth;
    glt_shared_process.main_program = NULL;
    all->workers = (struct glt_myth_worker*)calloc((size_t)environment->num_threads, sizeof *all->workers);
    if (all->workers && glt_shared_records_open(environment->num_threads))
        glt_shared_process.main_program = glt_shared_record_take(-1);
    if (!glt_shared_process.main_program) {
        glt_shared_records_close();
        free(all->workers);
        return 0;
    }
    all->idle = environment->idle;
    all->sleepers = 0;
    __atomic_store_n(&all->registered, 1, __ATOMIC_RELEASE);
    all->steal = myth_wsapi_set_stealfunc(glt_myth_steal);
    return 1;
}

static inline void glt_myth_open(const struct glt_shared_environment* environment)
{
    struct glt_myth* all = &glt_myth;
    myth_globalattr_t attributes;
    myth_globalattr_init(&attributes);
    attributes.n_workers = environment->num_threads;
    attributes.stacksize = environment->stack_size;
    attributes.bind_workers = 0; /* the hook does it: the library takes all processors of the machine, not those of the mask */
    attributes.child_first = 0;
    glt_myth_rank = 1;
    myth_init_ex(&attributes);
    glt_myth_adopt_main();
    all->before.bytes = 0;
    if (environment->bind) glt_shared_bind(environment->cpu[0], &all->before);
    while (__atomic_load_n(&all->registered, __ATOMIC_ACQUIRE) != (uint32_t)environment->num_threads) glt_shared_sched_yield();
}

GLT_API int glt_init_with(const GLT_options* options)
{
    const char* function = options ? "glt_init_with" : "glt_init";
    struct glt_shared_process* all = &glt_shared_process;
    struct glt_shared_environment* environment = &glt_myth.environment;
    int status;
    if (all->running) return glt_shared_report(GLT_ERROR_STATE, "%s: initialised twice; glt_finalize comes first", function);
    if (glt_myth_runs_already())
        return glt_shared_report(GLT_ERROR_STATE, "%s: MassiveThreads runs already, by another part of the program", function);
    status = glt_shared_resolve(function, "massivethreads", options, environment);
    if (status != GLT_SUCCESS) return status;
    if (!glt_myth_prepare(environment)) return glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory", function);
    all->look_closer = all->tasklets = 0;
    glt_myth_open(environment);
    all->num_threads = environment->num_threads;
    __atomic_store_n(&all->running, 1, __ATOMIC_RELEASE);
    return GLT_SUCCESS;
}

GLT_API void glt_finalize(void)
{
    struct glt_shared_process* all = &glt_shared_process;
    struct glt_shared_census left;
    if (!glt_shared_wind_up(&left)) return;
    glt_shared_values_end(&all->main_program->values);
    __atomic_store_n(&all->running, 0, __ATOMIC_RELEASE);
    all->look_closer = 1;
    __atomic_store_n(&glt_myth.idle, GLT_IDLE_SPIN, __ATOMIC_RELAXED);
    glt_myth_wake_idle(INT_MAX);
    myth_fini();
    myth_wsapi_set_stealfunc(glt_myth.steal);
    glt_myth_rank = 0;
    glt_shared_drop_units();
    glt_shared_records_close();
    glt_shared_unbind(&glt_myth.before);
    free(glt_myth.workers);
    glt_myth.workers = NULL;
    all->num_threads = 0;
    all->main_program = NULL;
}

#ifdef __cplusplus
}
#endif

#endif
