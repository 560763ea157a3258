/* No more threads than so many, or no more address space than so many bytes beyond what is used: `at_the_brink threads COUNT |
 * memory BYTES`. The operands are there before, and the products are right. */
#define _GNU_SOURCE
#include "guest.h"
#include <grp.h>
#include <sys/resource.h>

enum { n = 700 };
static double a[n * n], b[n * n], c[n * n];

static rlim_t used(void)
{
    long pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    require(file && fscanf(file, "%ld", &pages) == 1, "the size of the process");
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}
static void limit(int of, rlim_t to)
{
    const struct rlimit both = {to, to};
    require(setrlimit(of, &both) == 0, "a limit");
}

int main(int count, char** words)
{
    const int size = n;
    const double one = 1, zero = 0;
    require(count == 3, "at_the_brink threads COUNT | memory BYTES");
    alarm(60);
    for (int i = 0; i < n; ++i) a[i * n + i] = 2;
    for (int i = 0; i < n * n; ++i) b[i] = i % 1000;
    if (words[1][0] == 't') {
        limit(RLIMIT_NPROC, (rlim_t)atol(words[2]));
        /* Nobody limits root. The number is somebody's who has no process but this one. */
        if (getuid() == 0) require(setgroups(0, NULL) == 0 && setgid(54321) == 0 && setuid(54321) == 0, "another user");
    } else {
        limit(RLIMIT_AS, used() + (rlim_t)atol(words[2]));
    }
    for (int turn = 0; turn < 3; ++turn) {
        memset(c, 0, sizeof c);
        dgemm_("N", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
        for (int i = 0; i < n * n; ++i) require(c[i] == 2 * b[i], "the product");
    }
    puts("right");
    return 0;
}
