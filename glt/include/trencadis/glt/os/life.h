/* POSIX threads as units: how they begin, block and are woken (the list in shared/wait.h), and the start and end of it all. */
#ifndef TRENCADIS_GLT_OS_LIFE_H
#define TRENCADIS_GLT_OS_LIFE_H

#include "../shared/environment.h"
#include "../shared/join.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two mappings each, of the 65,530 that Linux gives a process. */
#ifndef GLT_OS_MOST_UNITS
#define GLT_OS_MOST_UNITS 16384u
#endif

struct glt_os {
    uint32_t turn;                 /* of the numbers, for units that were given none */
    uint32_t live;                 /* threads of units */
    uint32_t naps;                 /* ends of naps so far */
    uint32_t lost;                 /* of these, those dropped by glt_finalize */
    struct glt_shared_mask before; /* the main program's processors */
    struct glt_shared_environment environment;
};

GLT_SHARED_VARIABLE struct glt_os glt_os;
GLT_SHARED_VARIABLE __thread struct glt_shared_record* glt_os_self; /* null in foreign threads */
GLT_SHARED_VARIABLE __thread uint32_t glt_os_use;                   /* the record's `uses` when this thread began */

static inline int glt_shared_set_stack(const char* function, struct glt_shared_record* record, size_t size)
{
    if (size > GLT_SHARED_STACK_MAX)
        return glt_shared_report(GLT_ERROR_VALUE, "%s: stack_size is %zu bytes, not %zu to %zu", function, size, GLT_STACK_MIN,
                                 GLT_SHARED_STACK_MAX);
    record->stack = size;
    return GLT_SUCCESS;
}

static inline struct glt_shared_record* glt_shared_self(void) { return glt_os_self; }
static inline void glt_shared_relax(void) { glt_shared_sched_yield(); }

/* Many threads have the same number: caches of records, which belong to one, are not used here (glt_shared_records_open). */
static inline int glt_shared_thread(void)
{
    const struct glt_shared_record* me = glt_os_self;
    return me ? me->number : -1;
}

static inline void glt_os_bind(int number)
{
    const struct glt_shared_environment* environment = &glt_os.environment;
    if (environment->bind) glt_shared_bind(environment->cpu[number % environment->num_cpus], NULL);
}

GLT_SHARED_APART void* glt_os_body(void* unit)
{
    struct glt_shared_record* me = (struct glt_shared_record*)unit;
    glt_os_self = me;
    glt_os_use = me->uses;
    glt_os_bind(me->number);
    glt_shared_run(me);
    __atomic_fetch_sub(&glt_os.live, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Threads are detached: the record, not the thread, is what is joined. */
static inline int glt_os_start_thread(struct glt_shared_record* unit)
{
    /* The C library keeps its own data and the thread-local variables at the top of the stack. */
    size_t stack = (unit->stack ? unit->stack : glt_os.environment.stack_size) + 16384;
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    unit->stack = 0; /* for the record's next use, which may begin before pthread_create returns */
    if (error != 0) return error;
    error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (error == 0) error = pthread_attr_setstacksize(&attributes, (stack + 4095) / 4096 * 4096);
    if (error == 0) error = pthread_create(&thread, &attributes, glt_os_body, unit);
    pthread_attr_destroy(&attributes);
    return error;
}

static inline int glt_shared_launch(struct glt_shared_record* unit)
{
    uint32_t live = __atomic_fetch_add(&glt_os.live, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&unit->token, 0, __ATOMIC_RELAXED); /* a thread dropped by glt_finalize may look at it */
    unit->number = unit->home;
    if (unit->number < 0)
        unit->number = (int)(__atomic_fetch_add(&glt_os.turn, 1, __ATOMIC_RELAXED) % (uint32_t)glt_shared_process.num_threads);
    if (live < GLT_OS_MOST_UNITS && glt_os_start_thread(unit) == 0) return GLT_SUCCESS;
    __atomic_fetch_sub(&glt_os.live, 1, __ATOMIC_RELAXED);
    return GLT_ERROR_ENVIRONMENT;
}

/* The token is the record's `uses` while a release is in store. A thread that glt_finalize dropped thereby never takes the token
 * of a later unit with the same record, and sleeps on. */
static inline void glt_shared_block(struct glt_shared_record* me)
{
    uint32_t mine = glt_os_use, token = mine;
    while (!__atomic_compare_exchange_n(&me->token, &token, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        glt_shared_futex_wait(&me->token, token, -1);
        token = mine;
    }
}

static inline void glt_shared_release_unit(struct glt_shared_record* unit)
{
    __atomic_store_n(&unit->token, unit->uses, __ATOMIC_RELEASE);
    glt_shared_futex_wake(&unit->token, INT_MAX);
}

/* A change of the word comes before the count of `naps`: either the sleeper sees the one, or its sleep ends by the other. */
static inline void glt_shared_nap(const uint32_t* word, uint32_t bits, double seconds)
{
    uint32_t naps = __atomic_load_n(&glt_os.naps, __ATOMIC_ACQUIRE);
    if (!(__atomic_load_n(word, __ATOMIC_SEQ_CST) & bits)) glt_shared_futex_wait(&glt_os.naps, naps, seconds);
}

static inline void glt_shared_end_naps(void)
{
    __atomic_fetch_add(&glt_os.naps, 1, __ATOMIC_RELEASE);
    glt_shared_futex_wake(&glt_os.naps, INT_MAX);
}

/* Nobody schedules these units, so nobody needs to know which of them only look for something. */
static inline void glt_shared_polls(const struct glt_shared_record* me, int change)
{
    (void)me;
    (void)change;
}

/* --- Start and end ----------------------------------------------------------------------------------------------- */

/* The main program as a unit: a record of its own, which nobody joins. */
static inline int glt_os_adopt_main(void)
{
    struct glt_shared_record* main_program = glt_shared_record_take(-1);
    if (!main_program) return 0;
    main_program->home = main_program->number = 0;
    __atomic_store_n(&main_program->token, 0, __ATOMIC_RELAXED);
    glt_os_use = main_program->uses;
    main_program->frame = NULL;
    main_program->name = "the main program";
    glt_shared_record_mark(main_program, GLT_SHARED_STARTED | GLT_SHARED_JOINED);
    glt_shared_process.main_program = glt_os_self = main_program;
    return 1;
}

/* Handles of dropped units become stale, and their records are never used again: their threads are still there. */
static inline void glt_os_drop_units(void)
{
    for (struct glt_shared_slab* slab = glt_shared_records.slabs; slab; slab = slab->next) {
        for (int i = 0; i < GLT_SHARED_SLAB; ++i) {
            struct glt_shared_record* record = &slab->records[i];
            uint32_t state = glt_shared_record_state(record);
            if (!(state & GLT_SHARED_BLOCKED) || record == glt_shared_process.main_program) continue;
            __atomic_store_n(&record->state, 0, __ATOMIC_RELAXED);
            __atomic_fetch_add(&record->uses, 1, __ATOMIC_RELEASE);
        }
    }
    glt_shared_drop_units();
}

GLT_API int glt_init_with(const GLT_options* options)
{
    const char* function = options ? "glt_init_with" : "glt_init";
    struct glt_shared_process* all = &glt_shared_process;
    int status;
    if (all->running) return glt_shared_report(GLT_ERROR_STATE, "%s: initialised twice; glt_finalize comes first", function);
    status = glt_shared_resolve(function, "os", options, &glt_os.environment);
    if (status != GLT_SUCCESS) return status;
    if (!glt_os_adopt_main()) return glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory", function);
    all->num_threads = glt_os.environment.num_threads;
    all->look_closer = all->tasklets = 0;
    glt_os.turn = 0;
    glt_os.before.bytes = 0;
    if (glt_os.environment.bind) glt_shared_bind(glt_os.environment.cpu[0], &glt_os.before);
    __atomic_store_n(&all->running, 1, __ATOMIC_RELEASE);
    return GLT_SUCCESS;
}

GLT_API void glt_finalize(void)
{
    struct glt_shared_process* all = &glt_shared_process;
    struct glt_shared_census left;
    uint32_t none = 0;
    if (!glt_shared_wind_up(&left)) return;
    glt_os.lost += (uint32_t)left.blocked;
    while (__atomic_load_n(&glt_os.live, __ATOMIC_ACQUIRE) > glt_os.lost) glt_shared_futex_wait(&none, 0, 5e-5);
    __atomic_store_n(&all->running, 0, __ATOMIC_RELEASE);
    all->look_closer = 1;
    glt_shared_values_end(&all->main_program->values);
    glt_os_drop_units();
    glt_shared_unbind(&glt_os.before);
    all->num_threads = 0;
    all->main_program = glt_os_self = NULL;
}

#ifdef __cplusplus
}
#endif

#endif
