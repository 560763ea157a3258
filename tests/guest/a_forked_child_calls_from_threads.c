/* In the child of a fork threads make its first calls at the same time, while the parent's session is found to be another
 * process's. */
#include "guest.h"

#include <pthread.h>

static pthread_barrier_t together;

static void* compute(void* unused)
{
    pthread_barrier_wait(&together);
    for (int call = 0; call < 20; ++call) require(right_product(128), "the product is right");
    return unused;
}

static int child(void)
{
    enum { threads = 3 };
    pthread_t thread[threads];
    pthread_barrier_init(&together, NULL, threads);
    for (int i = 0; i < threads; ++i) require(pthread_create(&thread[i], NULL, compute, NULL) == 0, "a thread");
    for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
    return 0;
}

int main(void)
{
    alarm(120);
    require(right_product(on_tasks), "the parent computes");
    for (int round = 0; round < 100; ++round) in_child(child, "the child computes and ends");
    return 0;
}
