/* What the programs of this folder share. They know BLAS by its symbols, as anybody's program does. */
#ifndef GUEST_H
#define GUEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
#ifdef __cplusplus
}
#endif

/* Ends the process where `holds` does not. A process that hangs is ended by its alarm. */
static inline void require(int holds, const char* what)
{
    if (holds) return;
    fprintf(stderr, "not so: %s\n", what);
    _exit(1);
}

enum { on_tasks = 300, direct = 20 };

/* C <- A B with A = 2 I and B full of ones; 1 where C is full of twos. */
static inline int right_product(int n)
{
    const size_t count = (size_t)n * (size_t)n;
    double *a = (double*)calloc(count, sizeof *a), *b = (double*)calloc(count, sizeof *b), *c = (double*)calloc(count, sizeof *c);
    const double one = 1, zero = 0;
    int right = 1;
    for (int i = 0; i < n; ++i) a[(size_t)i * (size_t)n + (size_t)i] = 2;
    for (size_t i = 0; i < count; ++i) b[i] = 1;
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    for (size_t i = 0; i < count; ++i) right &= c[i] == 2;
    free(a);
    free(b);
    free(c);
    return right;
}

/* Forks; the child runs `life` and leaves by exit, as most programs do. Requires that it came to its end. */
static inline void in_child(int (*life)(void), const char* what)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        exit(life());
    }
    require(child > 0 && waitpid(child, &status, 0) == child, "a child");
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}
#endif
