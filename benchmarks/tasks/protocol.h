/* What the task peers have in common, in the subset of C and C++: arguments, and the conversation with `trencadis compare`.
 *
 *     tasks_peer_<name> TILES THREADS
 *
 * First line on standard output: {"name", "version", "threads", "tiles", "tasks"}. Then, for every line "run" on standard input,
 * the seconds of one run on a line. End of input ends the process. Wrong arguments: one line on standard error, exit code 2; a
 * runtime that does not do what was asked: likewise, 1. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define TRC_PEER_COMPILER "clang " __clang_version__
#else
#define TRC_PEER_COMPILER "gcc " __VERSION__
#endif

typedef struct TrcPeerArguments {
    int tiles;
    int threads;
} TrcPeerArguments;

/* The empty kernel: nothing, but not removed by the compiler. */
static inline void trc_nothing(void) { __asm__ volatile("" ::: "memory"); }

__attribute__((noreturn, format(printf, 1, 2))) static void trc_peer_fail(const char* format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

static int trc_peer_number(const char* program, const char* what, const char* text, long most)
{
    char* end = NULL;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > most) {
        fprintf(stderr, "%s: %s is '%s'; it must be a number from 1 to %ld\n", program, what, text, most);
        exit(2);
    }
    return (int)value;
}

static inline TrcPeerArguments trc_peer_arguments(int argc, char** argv)
{
    TrcPeerArguments arguments = {0, 0};
    if (argc != 3) {
        fprintf(stderr, "usage: %s TILES THREADS; got %d arguments\n", argv[0], argc - 1);
        exit(2);
    }
    arguments.tiles = trc_peer_number(argv[0], "TILES", argv[1], 20000);
    arguments.threads = trc_peer_number(argv[0], "THREADS", argv[2], 4096);
    return arguments;
}

/* "compiler, path of the library that holds the function". */
static inline void trc_peer_library(void* function, char* text, size_t size)
{
    Dl_info info;
    char* path = NULL;
    if (dladdr(function, &info) && info.dli_fname) path = realpath(info.dli_fname, NULL);
    snprintf(text, size, "%s, %s", TRC_PEER_COMPILER, path ? path : "library not known");
    free(path);
}

/* n potrf, n(n-1)/2 trsm and as many syrk, n(n-1)(n-2)/6 gemm. */
static long long trc_peer_tasks(long long n) { return n + n * (n - 1) + n * (n - 1) * (n - 2) / 6; }

static void trc_peer_introduce(const char* name, const char* version, TrcPeerArguments arguments)
{
    printf("{\"name\": \"%s\", \"version\": \"", name);
    for (const char* c = version; *c; ++c) {
        if (*c == '"' || *c == '\\') putchar('\\');
        if ((unsigned char)*c >= 0x20) putchar(*c);
    }
    printf("\", \"threads\": %d, \"tiles\": %d, \"tasks\": %lld}\n", arguments.threads, arguments.tiles,
           trc_peer_tasks(arguments.tiles));
    fflush(stdout);
}

/* True: another run is wanted. */
static int trc_peer_request(void)
{
    char line[64];
    if (!fgets(line, sizeof line, stdin)) return 0;
    line[strcspn(line, "\r\n")] = '\0';
    if (strcmp(line, "run") != 0) trc_peer_fail("'%s' is not a request; the one request is 'run'", line);
    return 1;
}

static void trc_peer_answer(double seconds)
{
    printf("%.9f\n", seconds);
    fflush(stdout);
}

static double trc_peer_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
