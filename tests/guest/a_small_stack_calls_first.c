/* The first call of a process, small, from a thread with little stack; and a fork afterwards. */
#include "guest.h"

#include <pthread.h>
#include <sys/wait.h>

static void* compute(void* unused)
{
    require(right_product(20), "the product is right");
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    alarm(30);
    require(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 << 10) == 0, "little stack");
    require(pthread_create(&thread, &attributes, compute, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    const pid_t child = fork();
    if (child == 0) return !right_product(on_tasks);
    int status = 1;
    require(waitpid(child, &status, 0) == child && status == 0, "the child computes");
    return 0;
}
