/* pthread_cancel in a thread's first large call: the call ends, then the thread; nobody else notices. */
#include "guest.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int begun;

static int cancel_type = PTHREAD_CANCEL_DEFERRED;

/* C <- A B of the thread that is cancelled. Its memory is not that thread's: one that is cancelled at any moment may be inside of
   malloc, whose lock nobody gives back. */
enum { order = 1200, elements = order * order };
static double *A, *B, *C;

static void* compute_for_long(void* unused)
{
    const int n = order;
    const double one = 1, zero = 0;
    int before;
    pthread_setcanceltype(cancel_type, &before);
    begun = 1;
    dgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
    for (;;) pause(); /* the cancellation may come only now */
    return unused;
}
/* All of them are, or none where the thread ended before its call had begun. */
static int are_twos_or_zeros(const double* x)
{
    for (int i = 0; i < elements; ++i)
        if (x[i] != x[0]) return 0;
    return x[0] == 2 || x[0] == 0;
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
    begun = 0;
    memset(C, 0, elements * sizeof *C);
    require(pthread_create(&thread, NULL, compute_for_long, NULL) == 0, "a thread");
    while (!begun) usleep(10);
    usleep(microseconds);
    require(pthread_cancel(thread) == 0 && pthread_join(thread, &end) == 0, "a cancellation");
    require(end == PTHREAD_CANCELED || cancel_type == PTHREAD_CANCEL_ASYNCHRONOUS, "the thread was cancelled");
    require(are_twos_or_zeros(C), "a call that has begun ends");
    require(pthread_create(&other, NULL, compute, NULL) == 0 && pthread_join(other, NULL) == 0, "another thread");
    require(right_product(on_tasks), "the main thread computes");
}

int main(void)
{
    alarm(60);
    A = calloc(elements, sizeof *A), B = calloc(elements, sizeof *B), C = calloc(elements, sizeof *C);
    for (int i = 0; i < order; ++i) A[(size_t)i * order + (size_t)i] = 2;
    for (int i = 0; i < elements; ++i) B[i] = 1;
    cancel_after(2000); /* in the middle of what the first large call prepares, or soon after */
    cancel_after(0);
    cancel_after(30000);
    cancel_type =
        PTHREAD_CANCEL_ASYNCHRONOUS; /* at the end of the call; some C libraries then forget to say why the thread ended */
    for (unsigned microseconds = 500; microseconds < 20000; microseconds *= 2) cancel_after(microseconds);
    return 0;
}
