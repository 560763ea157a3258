/* Solvers of medium length from more threads than there are cores, each with little stack: such calls are their callers' own. */
#include "guest.h"

#include <limits.h>
#include <pthread.h>

void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
void dposv_(const char*, const int*, const int*, double*, const int*, double*, const int*, int*, size_t);

enum { order = 600, columns = 8, threads = 4, calls = 5 };

static void solve(double* a, double* b, int* pivots, int positive_definite)
{
    const int n = order, nrhs = columns;
    int info = 1;
    for (size_t i = 0; i < (size_t)order * order; ++i) a[i] = 0;
    for (size_t i = 0; i < order; ++i) a[i * order + i] = 4;
    for (size_t i = 0; i < (size_t)order * columns; ++i) b[i] = 1;
    if (positive_definite) dposv_("L", &n, &nrhs, a, &n, b, &n, &info, 1);
    else dgesv_(&n, &nrhs, a, &n, pivots, b, &n, &info);
    require(info == 0, "it is solved");
    for (size_t i = 0; i < (size_t)order * columns; ++i) require(b[i] == 0.25, "the solution is right");
}

static void* compute(void* unused)
{
    double* const a = (double*)malloc(sizeof(double) * order * (order + columns));
    int* const pivots = (int*)malloc(sizeof(int) * order);
    for (int i = 0; i < 2 * calls; ++i) solve(a, a + (size_t)order * order, pivots, i % 2);
    free(pivots);
    free(a);
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread[threads];
    const size_t least = (16 << 10) > PTHREAD_STACK_MIN ? (16 << 10) : PTHREAD_STACK_MIN;
    alarm(120);
    require(right_product(on_tasks), "the workers are there");
    require(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, least) == 0, "little stack");
    for (int i = 0; i < threads; ++i) require(pthread_create(&thread[i], &attributes, compute, NULL) == 0, "a thread");
    for (int i = 0; i < threads; ++i) require(pthread_join(thread[i], NULL) == 0, "its end");
    return 0;
}
