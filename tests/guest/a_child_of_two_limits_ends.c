/* The parent has had two numbers of threads, a session and a flow of its own; the child has none of their threads. */
#include "guest.h"
#include "trencadis/trencadis.h"

static trc_session* session;
static trc_flow* flow;

static int nothing(void* args, trc_context* context)
{
    (void)args;
    (void)context;
    return 0;
}
static int compute(void) { return !right_product(on_tasks); }
static int other_limit(void)
{
    return trc_set_num_threads(1) != TRC_OK || !right_product(on_tasks) || trc_get_num_threads() != 1;
}
static int destroy(void)
{
    trc_flow* another = NULL;
    require(trc_flow_create(&another, session, 0) == TRC_ENVIRONMENT, "no flow on a session whose workers are not here");
    require(trc_task_submit(flow, "nothing", nothing, NULL, 0, NULL, 0, 0) == TRC_ENVIRONMENT, "nor a task");
    require(trc_flow_cancel(flow) == TRC_ENVIRONMENT, "nothing is cancelled that is not here");
    require(trc_flow_wait(flow) == TRC_ENVIRONMENT, "waiting is refused");
    require(strstr(trc_last_error_message(), "fork") != NULL, "with the reason");
    require(trc_flow_destroy(flow) == TRC_OK, "the flow is destroyed");
    require(trc_session_destroy(session) == TRC_OK, "the session is destroyed");
    return compute();
}

int main(void)
{
    alarm(60);
    require(trc_session_create(&session, "worker_count=1") == TRC_OK && trc_flow_create(&flow, session, 0) == TRC_OK,
            "a session");
    require(trc_task_submit(flow, "nothing", nothing, NULL, 0, NULL, 0, 0) == TRC_OK && trc_flow_wait(flow) == TRC_OK, "a task");
    const int all = trc_get_num_threads();
    require(right_product(on_tasks), "the parent computes");
    require(trc_set_num_threads(1) == TRC_OK && right_product(on_tasks), "and with one thread");
    in_child(compute, "the child computes and ends");
    require(trc_set_num_threads(all) == TRC_OK, "the first number again");
    in_child(compute, "the child of the first number computes and ends");
    in_child(other_limit, "the child takes the other number");
    in_child(destroy, "the child destroys what it cannot use");
    require(trc_flow_destroy(flow) == TRC_OK && trc_session_destroy(session) == TRC_OK, "so does the parent");
    return 0;
}
