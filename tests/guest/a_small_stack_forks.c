/* A thread with little stack forks before anything was called: in the child it is the first thread, with as little stack. */
#include "guest.h"

#include <pthread.h>

void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);

enum { order = 600 };
static double a[order * order], b[order];
static int pivots[order];

static int solves(void)
{
    const int n = order, one = 1;
    int info = 1;
    for (size_t i = 0; i < order; ++i) a[i * order + i] = 4, b[i] = 1;
    dgesv_(&n, &one, a, &n, pivots, b, &n, &info);
    for (size_t i = 0; i < order; ++i) require(info == 0 && b[i] == 0.25, "the solution is right");
    return 0;
}

static void* forks(void* unused)
{
    in_child(solves, "the child solves");
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    alarm(60);
    require(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 16 << 10) == 0, "little stack");
    require(pthread_create(&thread, &attributes, forks, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    return 0;
}
