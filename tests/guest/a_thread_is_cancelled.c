/* pthread_cancel in a thread's first large call: the call ends, then the thread; nobody else notices. */
#include "guest.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int begun, came_back;

static int cancel_type = PTHREAD_CANCEL_DEFERRED;

static void* compute_for_long(void* unused)
{
    int before;
    pthread_setcanceltype(cancel_type, &before);
    begun = 1;
    require(right_product(1200), "the product is right");
    came_back = 1;
    for (;;) pause(); /* the cancellation may come only now */
    return unused;
}
static void* compute(void* unused)
{
    require(right_product(on_tasks), "another thread computes");
    return unused;
}

static void cancel_after(unsigned microseconds)
{
    pthread_t thread, other;
    void* end = NULL;
    begun = came_back = 0;
    require(pthread_create(&thread, NULL, compute_for_long, NULL) == 0, "a thread");
    while (!begun) usleep(10);
    usleep(microseconds);
    require(pthread_cancel(thread) == 0 && pthread_join(thread, &end) == 0, "a cancellation");
    require(end == PTHREAD_CANCELED || cancel_type == PTHREAD_CANCEL_ASYNCHRONOUS, "the thread was cancelled");
    require(pthread_create(&other, NULL, compute, NULL) == 0 && pthread_join(other, NULL) == 0, "another thread");
    require(right_product(on_tasks), "the main thread computes");
}

int main(void)
{
    alarm(60);
    cancel_after(2000); /* in the middle of what the first large call prepares, or soon after */
    cancel_after(0);
    cancel_after(30000);
    cancel_type =
        PTHREAD_CANCEL_ASYNCHRONOUS; /* at the end of the call; some C libraries then forget to say why the thread ended */
    for (unsigned microseconds = 500; microseconds < 20000; microseconds *= 2) cancel_after(microseconds);
    return 0;
}
