/* The first calls of a process, a small one and one that starts the workers, from a thread with little stack; and a fork
 * afterwards. */
#include "guest.h"

#include <pthread.h>
#include <sys/wait.h>

static void* compute(void* order)
{
    require(right_product(*(int*)order), "the product is right");
    return NULL;
}

static int order;
static size_t stack;
static const char* devices;

static int first_call(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (devices) setenv("TRENCADIS_DEVICES", devices, 1);
    require(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, stack) == 0, "little stack");
    require(pthread_create(&thread, &attributes, compute, &order) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    return 0;
}
static void calls_first(int its_order, size_t its_stack)
{
    order = its_order, stack = its_stack;
    in_child(first_call, "a first call from a little stack");
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int small = 20;
    alarm(60);
    for (int n = 20; n <= on_tasks; n += 60) calls_first(n, 64 << 10);
    calls_first(60, 16 << 10);
    calls_first(128, 16 << 10);
    for (int way = 0; way < 2; ++way) {
        devices = way ? "emulated:2,always=yes" : "emulated:2";
        calls_first(on_tasks, 16 << 10);
        calls_first(700, 16 << 10);
    }
    require(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 << 10) == 0, "little stack");
    require(pthread_create(&thread, &attributes, compute, &small) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    const pid_t child = fork();
    if (child == 0) return !right_product(on_tasks);
    int status = 1;
    require(waitpid(child, &status, 0) == child && status == 0, "the child computes");
    return 0;
}
