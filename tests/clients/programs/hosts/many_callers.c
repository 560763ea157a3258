/* A thousand threads at once, with stacks of 64 KiB, each with small calls and large ones. */
#include "guest.h"
#include <pthread.h>

enum { callers = 1000 };
static pthread_barrier_t all_there;

static void* call(void* number)
{
    pthread_barrier_wait(&all_there);
    const int large = (size_t)number % 10 == 0;
    return right_product(direct) && right_product(large ? on_tasks : 60) ? number : NULL;
}

int main(void)
{
    static pthread_t threads[callers];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_barrier_init(&all_there, NULL, callers);
    alarm(120);
    for (size_t i = 0; i < callers; ++i) require(pthread_create(&threads[i], &attributes, call, (void*)(i + 1)) == 0, "a thread");
    for (size_t i = 0; i < callers; ++i) {
        void* answer;
        pthread_join(threads[i], &answer);
        require(answer == (void*)(i + 1), "a product");
    }
    puts("right");
    return 0;
}
