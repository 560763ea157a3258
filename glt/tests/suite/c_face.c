/* A translation unit in C beside those in C++: in the header-only form both must share one library. */
#include <stdlib.h>

#include "trencadis/glt.h"

struct state {
    GLT_mutex mutex;
    int count; /* guarded by mutex */
};

static void count_alone(void* count) /* a tasklet may not wait, also not for a mutex */
{
    __atomic_fetch_add((int*)count, 1, __ATOMIC_RELAXED);
}

static void count_up(void* argument)
{
    struct state* state = (struct state*)argument;
    glt_mutex_lock(state->mutex);
    state->count++;
    glt_mutex_unlock(state->mutex);
}

/* Runs so many ULTs and as many tasklets; how many ULTs were counted, or a negative number when a tasklet is missing. */
int glt_suite_c_units(int count);
int glt_suite_c_units(int count)
{
    struct state ults = {GLT_NULL, 0};
    int tasklets = 0;
    GLT_ult* units = glt_ult_malloc(count);
    GLT_tasklet* small = glt_tasklet_malloc(count);
    glt_mutex_create(&ults.mutex);
    for (int i = 0; i < count; ++i) {
        glt_ult_create(count_up, &ults, &units[i]);
        glt_tasklet_create(count_alone, &tasklets, &small[i]);
    }
    for (int i = 0; i < count; ++i) {
        glt_ult_join(&units[i]);
        glt_ult_free(&units[i]);
        glt_tasklet_free(&small[i]);
    }
    glt_mutex_free(&ults.mutex);
    free(units);
    free(small);
    return tasklets == count ? ults.count : -tasklets;
}
