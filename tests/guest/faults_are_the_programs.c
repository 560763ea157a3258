/* A program that handles its memory's faults itself, as those do that watch who writes where: a solver's matrix is read and
 * written by workers, by its caller, and, where that has little stack, by a thread that stands in for it. */
#define _GNU_SOURCE
#include "guest.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

void dposv_(const char*, const int*, const int*, double*, const int*, double*, const int*, int*, size_t);

enum { order = 600 };
static const size_t bytes = sizeof(double) * order * order;
static double *a, b[order];
static volatile sig_atomic_t faults;

static void open_page(int number, siginfo_t* fault, void* unused)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* const at = (char*)((size_t)fault->si_addr / page * page);
    (void)number, (void)unused;
    if (at < (char*)a || at >= (char*)a + bytes || mprotect(at, page, PROT_READ | PROT_WRITE) != 0) _exit(2);
    faults = 1;
}

static void* solve(void* unused)
{
    const int n = order, one = 1;
    int info = 1;
    for (size_t i = 0; i < order; ++i) a[i * order + i] = 4, b[i] = 1;
    faults = 0;
    require(mprotect(a, bytes, PROT_NONE) == 0, "a protected matrix");
    dposv_("L", &n, &one, a, &n, b, &n, &info, 1);
    for (size_t i = 0; i < order; ++i) require(info == 0 && b[i] == 0.25, "the solution is right");
    require(faults == 1, "the program's handler was called");
    require(mprotect(a, bytes, PROT_READ | PROT_WRITE) == 0, "an open matrix");
    return unused;
}

int main(void)
{
    struct sigaction action;
    pthread_attr_t attributes;
    alarm(60);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = open_page;
    action.sa_flags = SA_SIGINFO;
    require(sigaction(SIGSEGV, &action, NULL) == 0, "a handler");
    a = (double*)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(a != MAP_FAILED && pthread_attr_init(&attributes) == 0, "memory");
    solve(NULL);
    for (size_t stack = 1024 << 10; stack >= 32 << 10; stack /= 4) {
        pthread_t thread;
        require(pthread_attr_setstacksize(&attributes, stack) == 0, "a stack");
        require(pthread_create(&thread, &attributes, solve, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    }
    return 0;
}
