/* A thread that is bound to one core makes the first call: that is its own affair, the process has as many workers as before. A
 * process that is bound as a whole has as few. */
#define _GNU_SOURCE
#include "guest.h"
#include "trencadis/trencadis.h"

#include <pthread.h>
#include <sched.h>

static cpu_set_t first_core(void)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    require(sched_getaffinity(0, sizeof all, &all) == 0, "a mask");
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &all)) return CPU_SET(cpu, &one), one;
    return one;
}
static void* compute_pinned(void* unused)
{
    const cpu_set_t one = first_core();
    cpu_set_t after;
    require(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0, "bound");
    require(right_product(on_tasks), "the pinned thread computes");
    require(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&after, &one), "its own mask is as it was");
    return unused;
}
static int bound_process(void)
{
    const cpu_set_t one = first_core();
    require(sched_setaffinity(0, sizeof one, &one) == 0, "bound");
    require(right_product(on_tasks), "the bound process computes");
    return trc_get_num_threads() != 1;
}

int main(void)
{
    pthread_t thread;
    trc_session* session = NULL;
    alarm(60);
    in_child(bound_process, "a bound process has one worker");
    require(trc_session_create(&session, NULL) == TRC_OK, "a session");
    const int all = trc_session_workers(session);
    require(pthread_create(&thread, NULL, compute_pinned, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    require(trc_get_num_threads() == all && trc_session_workers(NULL) == all, "there are as many workers as cores");
    return 0;
}
