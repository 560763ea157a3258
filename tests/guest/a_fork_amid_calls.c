/* Threads make their first calls and go on computing while the main thread forks again and again: no child finds a lock that a
 * thread of the parent holds. */
#include "guest.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int stop, wrong;

static void* keep_computing(void* n)
{
    while (!stop)
        if (!right_product(*(int*)n)) wrong = 1;
    return NULL;
}
static int compute(void) { return !(right_product(direct) && right_product(on_tasks)); }

int main(void)
{
    int sizes[] = {on_tasks, 100, direct};
    pthread_t threads[3];
    alarm(120);
    for (int i = 0; i < 3; ++i) require(pthread_create(&threads[i], NULL, keep_computing, &sizes[i]) == 0, "a thread");
    for (int i = 0; i < 60; ++i) {
        in_child(compute, "the child computes and ends");
        if (i < 20) usleep(200 * (useconds_t)i);
    }
    stop = 1;
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    require(!wrong, "the parent's products are right");
    return 0;
}
