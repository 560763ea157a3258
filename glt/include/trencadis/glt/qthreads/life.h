/* Qthreads: how units begin, block and are woken (the list in shared/wait.h), and the start and end of the library. */
#ifndef TRENCADIS_GLT_QTHREADS_LIFE_H
#define TRENCADIS_GLT_QTHREADS_LIFE_H

#include "../shared/environment.h"
#include "../shared/join.h"
#include "idle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct glt_qthreads {
    size_t stack_size;
    uint32_t turn;                 /* of the shepherds for units of foreign threads */
    uint32_t binding;              /* shepherds that are not bound yet */
    struct glt_shared_mask before; /* the main program's processors */
    struct glt_shared_environment environment;
};

GLT_SHARED_VARIABLE struct glt_qthreads glt_qthreads;

static inline int glt_shared_set_stack(const char* function, struct glt_shared_record* record, size_t size)
{
    (void)record;
    if (size <= glt_qthreads.stack_size) return GLT_SUCCESS;
    return glt_shared_report(GLT_ERROR_UNSUPPORTED, "%s: a stack of %zu bytes; here all have the %zu of glt_init_with", function,
                             size, glt_qthreads.stack_size);
}

static inline int glt_shared_thread(void) { return (int16_t)qthread_shep(); }
static inline void glt_shared_relax(void) { qthread_yield_(0); }

/* The record's address is what a qthread keeps as its local data, 8 bytes of which each has. Foreign threads have none. */
static inline struct glt_shared_record* glt_shared_self(void)
{
    void* local = glt_shared_process.running ? qthread_get_tasklocal(sizeof(void*)) : NULL;
    struct glt_shared_record* record = NULL;
    if (local) memcpy(&record, local, sizeof record);
    return record;
}

static inline void glt_qthreads_become(struct glt_shared_record* record)
{
    void* local = qthread_get_tasklocal(sizeof(void*));
    if (local) memcpy(local, &record, sizeof record);
}

GLT_SHARED_APART aligned_t glt_qthreads_body(void* record)
{
    glt_qthreads_become((struct glt_shared_record*)record);
    glt_shared_run((struct glt_shared_record*)record);
    return 0;
}

/* Where a unit nobody has placed goes: to the creator's shepherd, where it stays, as the library's standard scheduler does not
 * steal. A foreign thread's go in turn to the others than 0, whose thread may be the main program's for long. */
static inline int glt_qthreads_choose(void)
{
    int own = glt_shared_thread();
    uint32_t others = (uint32_t)glt_shared_process.num_threads - 1;
    if (own >= 0 || others == 0) return own >= 0 ? own : 0;
    return 1 + (int)(__atomic_fetch_add(&glt_qthreads.turn, 1, __ATOMIC_RELAXED) % others);
}

static inline int glt_shared_launch(struct glt_shared_record* unit)
{
    unsigned simple = unit->state & GLT_SHARED_TASKLET ? QTHREAD_SPAWN_SIMPLE : 0;
    int answer;
    if (unit->home < 0) unit->home = glt_qthreads_choose();
    unit->park = 0; /* the last use may have been one of those that glt_finalize drops while they are blocked */
    answer = qthread_spawn(glt_qthreads_body, unit, 0, NULL, 0, NULL, (qthread_shepherd_id_t)unit->home, simple);
    glt_qthreads_wake_idle();
    return answer == QTHREAD_SUCCESS ? GLT_SUCCESS : GLT_ERROR_MEMORY;
}

/* A record's `park` is 0, 1 after a release that came before its block, 2 while blocked on the word. The word is emptied before
 * `park` says 2, and filled after it: a fill comes after its empty. Full words cost the library nothing, so it is empty no longer
 * than that. */
GLT_SHARED_APART void glt_shared_block(struct glt_shared_record* me)
{
    uint32_t none = 0;
    if (__atomic_load_n(&me->park, __ATOMIC_ACQUIRE) == 0) {
        qthread_empty(&me->word);
        if (__atomic_compare_exchange_n(&me->park, &none, 2, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            struct glt_shared_exceptions mine = glt_shared_exceptions_take();
            qthread_readFF(NULL, &me->word);
            while (__atomic_load_n(&me->park, __ATOMIC_ACQUIRE) == 2) qthread_yield_(0); /* it had no memory to wait with */
            glt_shared_exceptions_put(mine);
            return;
        }
        qthread_fill(&me->word);
    }
    __atomic_store_n(&me->park, 0, __ATOMIC_RELEASE);
}

GLT_SHARED_APART aligned_t glt_qthreads_fill(void* word)
{
    qthread_fill((aligned_t*)word);
    return 0;
}

/* Words are filled on a shepherd only: a foreign thread sends the fill to the unit's own, where it comes to run anyway. */
static void glt_shared_release_unit(struct glt_shared_record* unit)
{
    uint32_t none = 0;
    if (__atomic_compare_exchange_n(&unit->park, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    __atomic_store_n(&unit->park, 0, __ATOMIC_RELEASE);
    if (__builtin_expect(qthread_shep() != NO_SHEPHERD, 1)) qthread_fill(&unit->word);
    else qthread_spawn(glt_qthreads_fill, &unit->word, 0, NULL, 0, NULL, (qthread_shepherd_id_t)unit->home, QTHREAD_SPAWN_SIMPLE);
    glt_qthreads_wake_idle();
}

static inline void glt_shared_polls(const struct glt_shared_record* me, int change)
{
    if (me) glt_qthreads_idle.polling[glt_shared_thread()] += change;
}

static inline void glt_shared_end_naps(void) { glt_qthreads_wake_idle(); }
static void glt_shared_nap(const uint32_t* word, uint32_t bits, double seconds) { glt_qthreads_sleep(word, bits, seconds); }

/* --- Start and end ----------------------------------------------------------------------------------------------- */

/* What the library reads from the environment, as the options say; afterwards as it was. */
struct glt_qthreads_variable {
    const char* name;
    char value[24];
    char* before;
};

static inline void glt_qthreads_put(struct glt_qthreads_variable* variable, size_t value)
{
    const char* before = getenv(variable->name);
    variable->before = NULL;
    if (before && (variable->before = (char*)malloc(strlen(before) + 1))) strcpy(variable->before, before);
    snprintf(variable->value, sizeof variable->value, "%zu", value);
    glt_shared_setenv(variable->name, variable->value, 1);
}

static inline void glt_qthreads_put_back(struct glt_qthreads_variable* variable)
{
    if (variable->before) glt_shared_setenv(variable->name, variable->before, 1);
    else glt_shared_unsetenv(variable->name);
    free(variable->before);
}

GLT_SHARED_APART int glt_qthreads_open(const struct glt_shared_environment* environment)
{
    enum { VARIABLES = 5 };
    struct glt_qthreads_variable variables[VARIABLES] = {{"QT_NUM_SHEPHERDS", {0}, NULL},
                                                         {"QT_NUM_WORKERS_PER_SHEPHERD", {0}, NULL},
                                                         {"QT_HWPAR", {0}, NULL},
                                                         {"QT_STACK_SIZE", {0}, NULL},
                                                         {"QT_AFFINITY", {0}, NULL}};
    size_t threads = (size_t)environment->num_threads;
    size_t values[VARIABLES] = {threads, 1, threads, environment->stack_size, 0};
    int answer;
    for (int i = 0; i < VARIABLES; ++i) glt_qthreads_put(&variables[i], values[i]);
    answer = qthread_initialize();
    for (int i = 0; i < VARIABLES; ++i) glt_qthreads_put_back(&variables[i]);
    return answer;
}

GLT_SHARED_APART aligned_t glt_qthreads_bind(void* cpu)
{
    glt_shared_bind((int)(uintptr_t)cpu, NULL);
    __atomic_fetch_sub(&glt_qthreads.binding, 1, __ATOMIC_RELEASE);
    return 0;
}

/* Shepherd i to the i-th processor of the mask: the library, built without hwloc, binds nothing. */
static inline void glt_qthreads_bind_all(const struct glt_shared_environment* environment)
{
    glt_qthreads.before.bytes = 0;
    if (!environment->bind) return;
    glt_shared_bind(environment->cpu[0], &glt_qthreads.before);
    __atomic_store_n(&glt_qthreads.binding, (uint32_t)environment->num_threads - 1, __ATOMIC_RELEASE);
    for (int i = 1; i < environment->num_threads; ++i)
        qthread_spawn(glt_qthreads_bind, (void*)(uintptr_t)environment->cpu[i % environment->num_cpus], 0, NULL, 0, NULL,
                      (qthread_shepherd_id_t)i, QTHREAD_SPAWN_SIMPLE);
    while (__atomic_load_n(&glt_qthreads.binding, __ATOMIC_ACQUIRE) != 0) glt_shared_sched_yield();
}

/* The main program as a unit: a record of its own, which nobody joins. */
static inline int glt_qthreads_adopt_main(void)
{
    struct glt_shared_process* all = &glt_shared_process;
    if (!glt_shared_records_open(all->num_threads)) return 0;
    all->main_program = glt_shared_record_take(-1);
    if (!all->main_program) return 0;
    all->main_program->home = 0;
    all->main_program->park = 0;
    all->main_program->frame = NULL;
    all->main_program->name = "the main program";
    glt_shared_record_mark(all->main_program, GLT_SHARED_STARTED | GLT_SHARED_JOINED);
    glt_qthreads_become(all->main_program);
    return 1;
}

GLT_API int glt_init_with(const GLT_options* options)
{
    const char* function = options ? "glt_init_with" : "glt_init";
    struct glt_shared_process* all = &glt_shared_process;
    struct glt_shared_environment* environment = &glt_qthreads.environment;
    int status;
    if (all->running) return glt_shared_report(GLT_ERROR_STATE, "%s: initialised twice; glt_finalize comes first", function);
    if (qthread_shep() != NO_SHEPHERD)
        return glt_shared_report(GLT_ERROR_STATE, "%s: Qthreads runs already, by another part of the program", function);
    status = glt_shared_resolve(function, "qthreads", options, environment);
    if (status != GLT_SUCCESS) return status;
    if (glt_qthreads_open(environment) != QTHREAD_SUCCESS || (int)qthread_num_shepherds() != environment->num_threads)
        return glt_shared_report(GLT_ERROR_ENVIRONMENT, "%s: Qthreads does not start %d shepherds", function,
                                 environment->num_threads);
    all->num_threads = environment->num_threads;
    all->look_closer = all->tasklets = 0;
    glt_qthreads.stack_size = environment->stack_size;
    if (!glt_qthreads_adopt_main()) {
        qthread_finalize();
        all->num_threads = 0;
        return glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory", function);
    }
    glt_qthreads_bind_all(environment);
    glt_qthreads_idle_start(environment->idle, environment->num_threads);
    __atomic_store_n(&all->running, 1, __ATOMIC_RELEASE);
    return GLT_SUCCESS;
}

GLT_API void glt_finalize(void)
{
    struct glt_shared_process* all = &glt_shared_process;
    struct glt_shared_census left;
    if (!glt_shared_wind_up(&left)) return;
    glt_qthreads_idle_stop();
    __atomic_store_n(&all->running, 0, __ATOMIC_RELEASE);
    all->look_closer = 1;
    glt_shared_values_end(&all->main_program->values);
    qthread_finalize();
    glt_shared_drop_units();
    glt_shared_records_close();
    glt_shared_unbind(&glt_qthreads.before);
    all->num_threads = 0;
    all->main_program = NULL;
}

#ifdef __cplusplus
}
#endif

#endif
