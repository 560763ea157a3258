/* main leaves by pthread_exit, and other threads compute: the process ends with the last of the program's threads, by exit(0) and
 * not before, and no signal is taken from a thread that waits for it. Each case is a child, and the last
 * one the program itself. */
#define _GNU_SOURCE
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

static int report; /* where the child's handler writes when it exits */
static pthread_t first;

static void say(char what) { require(write(report, &what, 1) == 1, "a word to the parent"); }
static void at_exit(void) { say('e'); }
static void rest(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}
static void compute(void) { require(right_product(on_tasks) && right_product(400), "a product"); }
static void start(void* (*life)(void*))
{
    pthread_t thread;
    require(pthread_create(&thread, NULL, life, NULL) == 0 && pthread_detach(thread) == 0, "a thread");
}

static void* computes(void* none)
{
    compute();
    return none;
}
static void* computes_late(void* none)
{
    rest(200); /* main has left before there is any thread but this one */
    compute();
    return none;
}
static void* only_waits(void* none) /* and never calls: it is the last one all the same */
{
    rest(700);
    say('w');
    return none;
}
static void* joins_the_first(void* none)
{
    require(pthread_join(first, NULL) == 0, "the end of main");
    compute();
    say('j');
    return none;
}
static void* takes_the_signal(void* none)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    compute();
    rest(300);
    say('r');
    const struct timespec most = {20, 0};
    require(sigtimedwait(&set, NULL, &most) == SIGTERM, "the signal");
    say('s');
    return none;
}
static void* exits(void* none)
{
    compute();
    rest(100);
    exit(5);
    return none;
}

struct Case {
    void* (*lives[2])(void*);
    const char* said; /* in this order */
    int computes_first, code, sends;
};
static const struct Case cases[] = {
    {{computes, NULL}, "e", 0, 0, 0},        {{computes, NULL}, "e", 1, 0, 0},         {{computes_late, NULL}, "e", 0, 0, 0},
    {{computes, only_waits}, "we", 1, 0, 0}, {{joins_the_first, NULL}, "je", 1, 0, 0}, {{takes_the_signal, NULL}, "rse", 1, 0, 1},
    {{exits, NULL}, "e", 1, 5, 0},
};

static void leave(const struct Case* c)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    if (c->sends) pthread_sigmask(SIG_BLOCK, &set, NULL);
    atexit(at_exit);
    first = pthread_self();
    if (c->computes_first) compute();
    for (int i = 0; i < 2; ++i)
        if (c->lives[i]) start(c->lives[i]);
    pthread_exit(NULL);
}

/* What the child said before its end, which comes within some seconds. */
static void check(int number)
{
    const struct Case* const c = &cases[number];
    int words[2], status = 0, count = 0;
    char said[9] = {0};
    require(pipe(words) == 0, "a pipe");
    const pid_t child = fork();
    if (child == 0) {
        report = words[1];
        leave(c);
    }
    close(words[1]);
    if (c->sends) require(read(words[0], said + count++, 1) == 1 && kill(child, SIGTERM) == 0, "the child waits for a signal");
    pid_t ended = 0;
    for (int ms = 0; ms < 30000 && ended == 0; ms += 10, rest(10)) ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) kill(child, SIGKILL), waitpid(child, &status, 0);
    while (count < 8 && read(words[0], said + count, 1) == 1) ++count;
    close(words[0]);
    fprintf(stderr, "case %d: %s, code %d, said '%s'\n", number, ended ? "ended" : "never ended", WEXITSTATUS(status), said);
    require(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == c->code && strcmp(said, c->said) == 0, "its end");
}

int main(void)
{
    for (int number = 0; number < (int)(sizeof cases / sizeof *cases); ++number) check(number);
    report = STDOUT_FILENO;
    leave(&cases[3]);
}
