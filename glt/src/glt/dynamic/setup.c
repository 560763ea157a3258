/* glt_init, glt_finalize and the questions about the library itself. */
#include "glt/dynamic/dispatch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

_Atomic(const struct glt_table*) glt_current = &glt_closed_table;
atomic_int glt_threads;
static atomic_flag changing = ATOMIC_FLAG_INIT; /* one init or finalize at a time; nobody waits for it */

/* Under `changing`. The table is published once the back end runs: until then every call answers GLT_ERROR_STATE. */
static int start(const char* function, const GLT_options* options)
{
    const struct glt_table* running = glt_table();
    if (running != &glt_closed_table)
        return glt_fail(function, GLT_ERROR_STATE, "initialised already, with the back end '%s'; glt_finalize comes first",
                        running->name);
    GLT_options chosen = {0};
    if (options != NULL) chosen = *options;
    if (chosen.backend == NULL || *chosen.backend == '\0') chosen.backend = getenv("GLT_BACKEND");
    if (chosen.backend == NULL || *chosen.backend == '\0') chosen.backend = "native";

    const unsigned before = atomic_load(&glt_error_count);
    const struct glt_table* table = glt_find_plugin(function, chosen.backend);
    if (table == NULL) return glt_last_error();
    table->set_error_handler(glt_report);
    const int status = table->init_with(&chosen);
    if (status != GLT_SUCCESS) {
        if (atomic_load(&glt_error_count) == before) glt_fail(function, status, "the back end '%s' did not start", table->name);
        return status;
    }
    atomic_store(&glt_threads, table->get_num_threads());
    atomic_store(&glt_current, table);
    return GLT_SUCCESS;
}

static int init(const char* function, const GLT_options* options)
{
    if (atomic_flag_test_and_set(&changing))
        return glt_fail(function, GLT_ERROR_STATE, "another glt_init or glt_finalize has not returned yet");
    const int status = start(function, options);
    atomic_flag_clear(&changing);
    return status;
}

int glt_init_with(const GLT_options* options) { return init("init_with", options); }

void glt_init(int argc, char* argv[])
{
    (void)argc;
    (void)argv;
    init("init", NULL);
}

void glt_finalize(void)
{
    if (atomic_flag_test_and_set(&changing)) {
        glt_fail("finalize", GLT_ERROR_STATE, "another glt_init or glt_finalize has not returned yet");
        return;
    }
    const struct glt_table* table = glt_table();
    table->finalize();
    /* A back end refuses where it must not end, as in a unit; it then still runs. */
    if (table != &glt_closed_table && !table->initialized()) {
        atomic_store(&glt_current, &glt_closed_table);
        atomic_store(&glt_threads, 0);
    }
    atomic_flag_clear(&changing);
}

int glt_initialized(void) { return glt_table() != &glt_closed_table; }

const char* glt_backend_name(void) { return glt_table()->name; }

int glt_can(int capability)
{
    if (capability >= 0 && capability < GLT_CAPABILITIES) return glt_table()->can(capability);
    glt_refuse("can", GLT_ERROR_VALUE, "capability %d was asked for, there are 0 to %d", capability, GLT_CAPABILITIES - 1);
    return GLT_CANNOT;
}

int glt_get_num_threads(void) { return atomic_load_explicit(&glt_threads, memory_order_relaxed); }

int glt_get_thread_num(void) { return glt_table()->get_thread_num(); }

/* Time passes without a back end too. */
double glt_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int glt_can_event_functions(void) { return 0; }
int glt_can_future_functions(void) { return 0; }
int glt_can_manage_scheduler(void) { return 0; }
int glt_can_scheduler(void) { return 0; }
int glt_can_malleability(void) { return 0; }
