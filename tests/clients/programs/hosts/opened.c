/* Opens and closes the library over and over, also while other threads compute in it, and two copies of it at a time:
 * `opened LIBRARY COPY`. */
#include "guest.h"
#include <dlfcn.h>
#include <pthread.h>

typedef void Gemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                  const double*, const int*, const double*, double*, const int*);
enum { n = 320, turns = 40 };

static void compute(Gemm* gemm)
{
    const int size = n;
    const double one = 1, zero = 0;
    double *const a = calloc(n * n, sizeof *a), *const c = calloc(n * n, sizeof *c);
    for (int i = 0; i < n; ++i) a[i * n + i] = 2;
    gemm("N", "N", &size, &size, &size, &one, a, &size, a, &size, &zero, c, &size);
    for (int i = 0; i < n * n; ++i) require(c[i] == (i % (n + 1) == 0 ? 4 : 0), "a product");
    free(a);
    free(c);
}
static Gemm* gemm_of(void* library)
{
    Gemm* gemm;
    *(void**)&gemm = library ? dlsym(library, "dgemm_") : NULL;
    if (!gemm) fprintf(stderr, "%s\n", dlerror());
    require(gemm != NULL, "dgemm_");
    return gemm;
}
/* Opens, computes, closes; the call of another thread may be running. */
static void* open_and_close(void* path)
{
    for (int turn = 0; turn < turns; ++turn) {
        void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        compute(gemm_of(library));
        require(dlclose(library) == 0, "that it is closed");
    }
    return NULL;
}

int main(int count, char** words)
{
    require(count == 3, "opened LIBRARY COPY");
    alarm(120);
    open_and_close(words[1]);
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) require(pthread_create(&threads[i], NULL, open_and_close, words[1 + i % 2]) == 0, "a thread");
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    void *const one = dlopen(words[1], RTLD_NOW | RTLD_LOCAL), *const other = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
    require(gemm_of(one) != gemm_of(other), "two copies");
    require(dlsym(one, "trc_version") != dlsym(other, "trc_version"), "two copies of the runtime");
    puts("right");
    return 0;
}
