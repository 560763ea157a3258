/* What the shared parts need of the system: a clock, futexes, a lock. The functions of the C library are declared here under
 * names of our own, since a compiler told -std=c11 hides theirs and a program may have included <time.h> long before glt.h. */
#ifndef TRENCADIS_GLT_SHARED_SYSTEM_H
#define TRENCADIS_GLT_SHARED_SYSTEM_H

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* A variable of the whole process, defined by each translation unit that includes its header and merged by the linker. A library
 * that hides its symbols (-fvisibility=hidden) shows these all the same, or it would have variables of its own; with
 * GLT_STATIC_HIDDEN, in all its sources, it is to have them. */
#ifdef GLT_STATIC_HIDDEN
#define GLT_SHARED_VARIABLE __attribute__((weak, visibility("hidden")))
#else
#define GLT_SHARED_VARIABLE __attribute__((weak, visibility("default")))
#endif
/* A function too big or too rare to be inlined; none is warned about where it is not used. Also for whatever reads a thread-local
 * variable: inlined, its address could be kept in a register while the unit moves to another thread. */
#define GLT_SHARED_APART static __attribute__((noinline, unused))

#ifdef __cplusplus
extern "C" {
#endif

extern int glt_shared_clock_gettime(int clock, struct timespec* now) __asm__("clock_gettime");
extern long glt_shared_syscall(long number, ...) __asm__("syscall");
extern int glt_shared_sched_yield(void) __asm__("sched_yield");

static inline double glt_shared_now(void)
{
    struct timespec now;
    glt_shared_clock_gettime(1 /* CLOCK_MONOTONIC */, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void glt_shared_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* Sleeps in the operating system while *word is `value`, for `seconds` at most (negative: no limit); may wake for no reason. */
GLT_SHARED_APART void glt_shared_futex_wait(uint32_t* word, uint32_t value, double seconds)
{
    struct timespec limit;
    struct timespec* at_most = NULL;
    if (seconds >= 0) {
        if (seconds > 1e9) seconds = 1e9;
        limit.tv_sec = (time_t)seconds;
        limit.tv_nsec = (long)((seconds - (double)limit.tv_sec) * 1e9);
        at_most = &limit;
    }
    glt_shared_syscall(SYS_futex, word, 128 /* FUTEX_WAIT_PRIVATE */, value, at_most, NULL, 0);
}

GLT_SHARED_APART void glt_shared_futex_wake(uint32_t* word, int sleepers)
{
    glt_shared_syscall(SYS_futex, word, 129 /* FUTEX_WAKE_PRIVATE */, sleepers, NULL, NULL, 0);
}

/* A lock of the operating system's threads: 0 free, 1 taken, 2 taken and somebody sleeps (Drepper, Futexes are tricky). Held for
 * a few instructions only, never over a switch of units; whoever waits for a holder that lost its core sleeps. */
static inline void glt_shared_lock(uint32_t* lock)
{
    uint32_t free_lock = 0;
    if (__atomic_compare_exchange_n(lock, &free_lock, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0) glt_shared_futex_wait(lock, 2, -1);
}

static inline void glt_shared_unlock(uint32_t* lock)
{
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) glt_shared_futex_wake(lock, 1);
}

#ifdef __cplusplus
}
#endif

#endif
