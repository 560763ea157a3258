/* A program that loads the library, computes, closes it and goes on. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void Gemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                  const double*, const int*, const double*, double*, const int*);

static void late(void) { usleep(20000); }

int main(int count, char** words)
{
    enum { n = 300 };
    const int size = n;
    static double a[n * n], c[n * n];
    const double one = 1, zero = 0;
    alarm(20);
    atexit(late);
    for (int i = 0; i < n; ++i) a[i * n + i] = 1;
    for (int turn = 0; turn < 3; ++turn) {
        void* const library = dlopen(count > 1 ? words[1] : "", RTLD_NOW | RTLD_LOCAL);
        Gemm* const gemm = library ? (Gemm*)dlsym(library, "dgemm_") : NULL;
        if (!gemm) return fprintf(stderr, "no dgemm_: %s\n", dlerror()), 1;
        gemm("N", "N", &size, &size, &size, &one, a, &size, a, &size, &zero, c, &size);
        if (c[0] != 1 || c[1] != 0) return fprintf(stderr, "a wrong product\n"), 1;
        if (dlclose(library) != 0) return fprintf(stderr, "cannot be closed: %s\n", dlerror()), 1;
        usleep(20000); /* its threads are asleep by now, or in code that is gone */
    }
    return 0;
}
