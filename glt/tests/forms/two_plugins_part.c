/* One of two parts of a program that know nothing of each other, each with its own copy of the header-only form. */
#include "trencadis/glt.h"

#include "two_plugins.h"

static void ignore(int status, const char* message)
{
    (void)status;
    (void)message;
}

static void count(void* sum) { __atomic_fetch_add((int*)sum, 1, __ATOMIC_RELAXED); }

static int start(void)
{
    GLT_options options = {NULL, 2, 0, 0, 0};
    glt_set_error_handler(ignore);
    return glt_init_with(&options);
}

static int work(void)
{
    enum { UNITS = 20 };
    GLT_ult units[UNITS];
    int sum = 0;
    for (int i = 0; i < UNITS; ++i) glt_ult_create(count, &sum, &units[i]);
    for (int i = 0; i < UNITS; ++i) glt_ult_free(&units[i]);
    return sum == UNITS;
}

const struct two_plugins_part two_plugins_part = {start, work, glt_finalize};
