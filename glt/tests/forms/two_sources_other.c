#include "two_sources.h"

#include <stdlib.h>

struct work {
    long number;
    GLT_mutex mutex;
    long* sum;
    int* ran;
};

static void add(void* argument)
{
    struct work* work = (struct work*)argument;
    glt_yield();
    glt_mutex_lock(work->mutex);
    *work->sum += work->number * work->number;
    ++*work->ran;
    glt_mutex_unlock(work->mutex);
}

/* Runs to its end: tries until it has the lock. */
static void count(void* argument)
{
    struct work* work = (struct work*)argument;
    while (!glt_mutex_trylock(work->mutex)) {}
    ++*work->ran;
    glt_mutex_unlock(work->mutex);
}

int add_squares(int n, GLT_mutex mutex, long* sum)
{
    int ran = 0;
    struct work* works = (struct work*)malloc((size_t)n * sizeof *works);
    GLT_ult* ults = glt_ult_malloc(n);
    GLT_tasklet* tasklets = glt_tasklet_malloc(n);
    for (int i = 0; i < n; ++i) {
        const struct work work = {i + 1, mutex, sum, &ran};
        works[i] = work;
        glt_ult_create_to(add, &works[i], &ults[i], i % glt_get_num_threads());
        glt_tasklet_create(count, &works[i], &tasklets[i]);
    }
    for (int i = 0; i < n; ++i) {
        glt_ult_join(&ults[i]);
        glt_ult_free(&ults[i]);
        glt_tasklet_free(&tasklets[i]);
    }
    free(ults);
    free(tasklets);
    free(works);
    return ran;
}

int initialise_again(void) { return glt_init_with(NULL); }

int threads_seen_there(void) { return glt_get_num_threads(); }
