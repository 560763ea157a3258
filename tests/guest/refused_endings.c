/* What would wait for itself is refused with a code, and nothing has changed then. */
#include "guest.h"
#include "trencadis/trencadis.h"

static trc_session* session;
static trc_flow* flow;
static int seen[4];

static int wait_inside(void* args, trc_context* context)
{
    (void)args;
    (void)context;
    seen[0] = trc_flow_wait(flow);
    require(strstr(trc_last_error_message(), "inside one of its own tasks") != NULL, "the message says why not to wait");
    seen[1] = trc_flow_destroy(flow);
    seen[2] = trc_session_destroy(session);
    return 0;
}
/* The same from a task inside a task, after a call in which the worker may have run something else. */
static int nested(void* args, trc_context* context)
{
    trc_flow* const children = trc_context_flow(context);
    if (trc_task_submit(children, "inner", wait_inside, args, 0, NULL, 0, 0) != TRC_OK) return 1;
    if (trc_flow_wait(children) != TRC_OK) return 2; /* of its own children it may wait */
    seen[3] = trc_flow_wait(flow);
    return 0;
}
static int nothing(void* args, trc_context* context)
{
    (void)args;
    (void)context;
    return 0;
}

static void check(const char* options)
{
    require(trc_session_create(&session, options) == TRC_OK, "a session");
    require(trc_flow_create(&flow, session, 0) == TRC_OK, "a flow");
    require(trc_session_destroy(session) == -1, "a session with a living flow is not destroyed");
    require(strstr(trc_last_error_message(), "1 flow ") != NULL, "the message says what is left");
    memset(seen, 0, sizeof seen);
    require(trc_task_submit(flow, "inside", wait_inside, NULL, 0, NULL, 0, 0) == TRC_OK, "a task");
    require(trc_flow_wait(flow) == TRC_OK, "the flow ends");
    require(seen[0] == -1 && seen[1] == -1 && seen[2] == -1, "inside the task all are refused");
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 8; ++i) {
        require(trc_task_submit(flow, "outer", nested, NULL, 0, NULL, 0, 0) == TRC_OK, "a task with a task inside");
        require(trc_task_submit(flow, "nothing", nothing, NULL, 0, NULL, 0, 0) == TRC_OK, "a task");
    }
    require(trc_flow_wait(flow) == TRC_OK, "the flow ends again");
    require(seen[0] == -1 && seen[1] == -1 && seen[2] == -1 && seen[3] == -1,
            "inside the inner task all are refused, and after it");
    require(trc_flow_destroy(flow) == TRC_OK, "outside the flow is destroyed");
    require(trc_session_destroy(session) == TRC_OK, "and the session");
}

int main(void)
{
    alarm(60);
    check(NULL);
    check("worker_count=1");
    check("threads=os");
    check("engine=sequential");
    return 0;
}
