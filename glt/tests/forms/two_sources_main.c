#include "two_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int errors;
static void on_error(int status, const char* message)
{
    (void)message;
    if (status == GLT_ERROR_STATE) ++errors;
}

static void must(int holds, const char* what)
{
    if (holds) return;
    fprintf(stderr, "not so: %s (%s)\n", what, glt_last_message());
    exit(1);
}

static void* resume(void* unit) { return glt_ult_resume(*(GLT_ult*)unit) == GLT_SUCCESS ? NULL : unit; }
static void resume_from_a_unit(void* unit) { must(resume(unit) == NULL, "a unit resumes another"); }

int main(void)
{
    GLT_options options;
    GLT_mutex mutex;
    GLT_ult self, helper;
    long sum = 0;
    memset(&options, 0, sizeof options);
    options.num_threads = 2;
    must(glt_init_with(&options) == GLT_SUCCESS, "the library starts");
    must(threads_seen_there() == 2, "both sources see two threads");

    glt_mutex_create(&mutex);
    must(add_squares(100, mutex, &sum) == 200, "every unit runs once");
    must(sum == 338350, "the sum of the squares of 1 to 100");
    glt_mutex_free(&mutex);

    glt_ult_self(&self);
    glt_ult_create(resume_from_a_unit, &self, &helper);
    must(glt_ult_suspend() == GLT_SUCCESS, "the main program suspends itself");
    glt_ult_free(&helper);

    glt_set_error_handler(on_error);
    must(initialise_again() == GLT_ERROR_STATE && errors == 1, "the handler set here hears of the other source's error");
    must(glt_last_status() == GLT_ERROR_STATE && glt_last_status() == GLT_SUCCESS, "and its status is kept");
    glt_set_error_handler(NULL);
    printf("%s: %s\n", glt_backend_name(), "two sources, one library");
    glt_finalize();
    must(glt_initialized() == 0 && threads_seen_there() == 0, "both sources see the end");
    return 0;
}
