/* A child that has nothing to do with BLAS, and one that has, leave by exit after the parent has computed. */
#include "guest.h"

static int idle(void) { return 0; }
static int compute(void) { return !(right_product(direct) && right_product(on_tasks)); }
static int compute_and_fork(void)
{
    in_child(compute, "the grandchild computes and ends");
    return compute();
}

int main(void)
{
    alarm(60);
    require(right_product(on_tasks), "the parent computes");
    in_child(idle, "the child that does nothing ends");
    in_child(compute, "the child that computes ends");
    in_child(compute_and_fork, "the child with a child ends");
    require(right_product(on_tasks), "the parent computes after the children");
    return 0;
}
