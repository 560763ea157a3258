/* A program whose threads all begin with little stack, the only worker among them: a task of a flow calls a solver, whose tasks
 * nobody but that task has time for. */
#define _GNU_SOURCE
#include "guest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <trencadis/trencadis.h>

enum { order = 600 };
static trc_session* session;
static double a[order * order], b[order];
static int64_t pivots[order];
static atomic_int done;

static int solve(void* args, trc_context* context)
{
    int64_t info = 1;
    (void)args, (void)context;
    for (size_t i = 0; i < order; ++i) a[i * order + i] = 4, b[i] = 1;
    const int failure = trc_dgesv(session, order, 1, a, order, pivots, b, order, &info);
    atomic_store(&done, 1);
    return failure || info != 0;
}

int main(void)
{
    pthread_attr_t attributes;
    trc_flow* flow;
    const trc_access access = {a, TRC_READWRITE, NULL};
    alarm(60);
    require(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 128 << 10) == 0, "little stack");
    require(pthread_setattr_default_np(&attributes) == 0, "for all threads");
    require(trc_session_create(&session, "worker_count=1") == 0 && trc_flow_create(&flow, session, 0) == 0, "a flow");
    require(trc_task_submit(flow, "solve", solve, NULL, 0, &access, 1, 0) == 0, "a task");
    while (!atomic_load(&done)) usleep(1000); /* who waits for the flow would help */
    require(trc_flow_wait(flow) == 0 && trc_flow_destroy(flow) == 0, "its end");
    for (size_t row = 0; row < order; ++row) require(b[row] == 0.25, "the solution is right");
    return trc_session_destroy(session);
}
