/* A program that has handlers of its own computes through the drop-in library: they stay, they run to their end, and the
 * signals that it waits for come to it. Each check is a process of its own: `host_signals NAME`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);

enum { n = 320, elements = n * n, page = 4096 };
static const size_t bytes = (elements * sizeof(double) + page - 1) / page * page;
static double *A, *B, *C;

static double* map(int protection) { return mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void multiply(void)
{
    const int size = n;
    const double one = 1, zero = 0;
    dgemm_("N", "N", &size, &size, &size, &one, A, &size, B, &size, &zero, C, &size);
}

static int fail(const char* what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* --- pages that come when they are touched ----------------------------------------------------------------------- */

static pthread_mutex_t pager = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void serve(int signal, siginfo_t* info, void* context)
{
    (void)signal, (void)context;
    char* const at = (char*)((size_t)info->si_addr / page * page);
    pthread_mutex_lock(&pager);
    for (volatile int i = 0; i < 300000; ++i) {} /* as long as a page takes to be read from somewhere */
    if (mprotect(at, page, PROT_READ | PROT_WRITE) != 0) abort();
    ++served;
    pthread_mutex_unlock(&pager);
}

static int pages_on_demand(void)
{
    struct sigaction action = {.sa_sigaction = serve, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (int round = 0; round < 10; ++round) {
        double* const whole[] = {A, B, C};
        for (int i = 0; i < 3; ++i) mprotect(whole[i], bytes, PROT_NONE);
        multiply();
    }
    return served > 0 ? 0 : fail("no page was served: the check checks nothing");
}

/* --- handlers stay what they were --------------------------------------------------------------------------------- */

static void handler(int signal) { (void)signal; }

static int dispositions(void)
{
    struct sigaction before[65], after, caught = {.sa_handler = handler, .sa_flags = SA_RESTART},
                                        ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGUSR1, &caught, NULL);
    sigaction(SIGURG, &ignored, NULL);
    for (int signal = 1; signal <= 64; ++signal) sigaction(signal, NULL, &before[signal]);
    for (int round = 0; round < 30; ++round) multiply();
    for (int signal = 1; signal <= 64; ++signal) {
        if (signal == 32 || signal == 33) continue; /* the C library's */
        sigaction(signal, NULL, &after);
        if (after.sa_handler != before[signal].sa_handler || after.sa_flags != before[signal].sa_flags)
            return fprintf(stderr, "the handler of signal %d was replaced\n", signal), 1;
    }
    return 0;
}

/* --- a handler for one fault: the second one ends the program ------------------------------------------------------- */

static int* calls;
static void count(int signal)
{
    (void)signal;
    if (++*calls > 10) _exit(3);
}

static int one_shot(void)
{
    calls = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_handler = count, .sa_flags = (int)SA_RESETHAND};
        sigaction(SIGSEGV, &action, NULL);
        for (int round = 0; round < 30; ++round) multiply();
        *(volatile char*)map(PROT_NONE) = 1;
        _exit(4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV) return fail("the second fault did not end the program");
    return *calls == 1 ? 0 : fail("the handler of one fault was called again");
}

/* --- signals that the program waits for ------------------------------------------------------------------------------- */

static int waits(int by_file)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    const int file = signalfd(-1, &set, SFD_NONBLOCK);
    for (int round = 0; round < 100; ++round) {
        multiply();
        kill(getpid(), SIGURG);
        struct signalfd_siginfo info;
        const struct timespec most = {2, 0};
        const int came = by_file ? read(file, &info, sizeof info) == sizeof info : sigtimedwait(&set, NULL, &most) == SIGURG;
        if (!came) return fprintf(stderr, "signal %d did not come\n", round), 1;
    }
    return 0;
}
static int sigwait_gets_all(void) { return waits(0); }
static int signalfd_gets_all(void) { return waits(1); }

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        int (*run)(void);
    } checks[] = {{"pages_on_demand", pages_on_demand},
                  {"dispositions", dispositions},
                  {"one_shot", one_shot},
                  {"sigwait_gets_all", sigwait_gets_all},
                  {"signalfd_gets_all", signalfd_gets_all}};
    A = map(PROT_READ | PROT_WRITE), B = map(PROT_READ | PROT_WRITE), C = map(PROT_READ | PROT_WRITE);
    for (size_t i = 0; argc == 2 && i < sizeof checks / sizeof *checks; ++i)
        if (strcmp(argv[1], checks[i].name) == 0) return checks[i].run();
    return fail("usage: host_signals NAME");
}
