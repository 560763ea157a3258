/* Tile Cholesky as one writes it on StarPU, for comparison with ours on the engine `starpu`: the same tiles of a matrix in place,
 * the kernels of any library with LAPACK's names, priorities along the critical path.
 *
 *     starpu_potrf N NB THREADS SCHEDULER LIBRARY
 *
 * First line on standard output: {"name", "version", "threads", "n", "nb", "scheduler"}. Then, for every line "run" on standard
 * input, the seconds of one factorization and its largest error relative to the elements of the known factor. End of input ends
 * the process. */
#include "protocol.h"

#include <math.h>
#include <starpu.h>
#include <sys/mman.h>

typedef void Potrf(const char*, const int*, double*, const int*, int*, size_t);
typedef void Trsm(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
                  const int*, double*, const int*, size_t, size_t, size_t, size_t);
typedef void Syrk(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                  double*, const int*, size_t, size_t);
typedef void Gemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                  const double*, const int*, const double*, double*, const int*, size_t, size_t);
static Potrf* dpotrf;
static Trsm* dtrsm;
static Syrk* dsyrk;
static Gemm* dgemm;
static const double one = 1, minus_one = -1;

typedef struct Tile {
    double* data;
    int rows, cols, ld;
} Tile;
static Tile tile(void* buffer)
{
    const Tile seen = {(double*)STARPU_MATRIX_GET_PTR(buffer), (int)STARPU_MATRIX_GET_NX(buffer),
                       (int)STARPU_MATRIX_GET_NY(buffer), (int)STARPU_MATRIX_GET_LD(buffer)};
    return seen;
}
static void run_potrf(void* buffers[], void* arguments)
{
    (void)arguments;
    const Tile A = tile(buffers[0]);
    int info = 0;
    dpotrf("L", &A.rows, A.data, &A.ld, &info, 1);
    if (info != 0) trc_peer_fail("a tile is not positive definite (%d)", info);
}
static void run_trsm(void* buffers[], void* arguments)
{
    (void)arguments;
    const Tile L = tile(buffers[0]), A = tile(buffers[1]);
    dtrsm("R", "L", "T", "N", &A.rows, &A.cols, &one, L.data, &L.ld, A.data, &A.ld, 1, 1, 1, 1);
}
static void run_syrk(void* buffers[], void* arguments)
{
    (void)arguments;
    const Tile A = tile(buffers[0]), C = tile(buffers[1]);
    dsyrk("L", "N", &C.rows, &A.cols, &minus_one, A.data, &A.ld, &one, C.data, &C.ld, 1, 1);
}
static void run_gemm(void* buffers[], void* arguments)
{
    (void)arguments;
    const Tile A = tile(buffers[0]), B = tile(buffers[1]), C = tile(buffers[2]);
    dgemm("N", "T", &C.rows, &C.cols, &A.cols, &minus_one, A.data, &A.ld, B.data, &B.ld, &one, C.data, &C.ld, 1, 1);
}

static struct starpu_perfmodel potrf_model = {.type = STARPU_HISTORY_BASED, .symbol = "plain_potrf"};
static struct starpu_perfmodel trsm_model = {.type = STARPU_HISTORY_BASED, .symbol = "plain_trsm"};
static struct starpu_perfmodel syrk_model = {.type = STARPU_HISTORY_BASED, .symbol = "plain_syrk"};
static struct starpu_perfmodel gemm_model = {.type = STARPU_HISTORY_BASED, .symbol = "plain_gemm"};
static struct starpu_codelet potrf = {
    .cpu_funcs = {run_potrf}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &potrf_model, .name = "potrf"};
static struct starpu_codelet trsm = {
    .cpu_funcs = {run_trsm}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .model = &trsm_model, .name = "trsm"};
static struct starpu_codelet syrk = {
    .cpu_funcs = {run_syrk}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .model = &syrk_model, .name = "syrk"};
static struct starpu_codelet gemm = {
    .cpu_funcs = {run_gemm}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}, .model = &gemm_model, .name = "gemm"};

static void submit_one(struct starpu_codelet* codelet, int priority, starpu_data_handle_t a, starpu_data_handle_t b,
                       starpu_data_handle_t c)
{
    struct starpu_task* task = starpu_task_create();
    task->cl = codelet;
    task->priority = priority;
    task->handles[0] = a;
    task->handles[1] = b;
    task->handles[2] = c;
    if (starpu_task_submit(task) != 0) trc_peer_fail("starpu_task_submit refused a task");
}

/* Priorities as in StarPU's own example: the diagonal first, then what the next diagonal tiles wait for. */
static void factor(starpu_data_handle_t* A, int tiles)
{
    for (int k = 0; k < tiles; ++k) {
        submit_one(&potrf, 2 * tiles - 2 * k, A[k * tiles + k], NULL, NULL);
        for (int i = k + 1; i < tiles; ++i) submit_one(&trsm, 2 * tiles - 2 * k - i, A[k * tiles + k], A[i * tiles + k], NULL);
        for (int i = k + 1; i < tiles; ++i) {
            for (int j = k + 1; j < i; ++j)
                submit_one(&gemm, 2 * tiles - 2 * k - i - j, A[i * tiles + k], A[j * tiles + k], A[i * tiles + j]);
            submit_one(&syrk, 2 * tiles - 2 * k - i - i, A[i * tiles + k], A[i * tiles + i], NULL);
        }
    }
    starpu_task_wait_for_all();
}

static starpu_data_handle_t* register_tiles(double* A, int n, int nb, int tiles)
{
    starpu_data_handle_t* handles = calloc((size_t)tiles * (size_t)tiles, sizeof *handles);
    if (!handles) trc_peer_fail("no memory for the handles");
    for (int i = 0; i < tiles; ++i)
        for (int j = 0; j <= i; ++j) {
            const uint32_t rows = (uint32_t)(n - i * nb < nb ? n - i * nb : nb),
                           cols = (uint32_t)(n - j * nb < nb ? n - j * nb : nb);
            starpu_matrix_data_register(&handles[i * tiles + j], STARPU_MAIN_RAM,
                                        (uintptr_t)(A + (size_t)i * (size_t)nb + (size_t)j * (size_t)nb * (size_t)n), (uint32_t)n,
                                        rows, cols, sizeof(double));
        }
    return handles;
}

static void start(int threads, const char* scheduler)
{
    struct starpu_conf conf;
    setenv("STARPU_SILENT", "1", 0);
    starpu_conf_init(&conf);
    conf.ncpus = threads;
    conf.ncuda = 0;
    conf.nopencl = 0;
    conf.sched_policy_name = scheduler;
    if (starpu_init(&conf) != 0) trc_peer_fail("starpu_init failed");
    if ((int)starpu_cpu_worker_get_count() != threads)
        trc_peer_fail("StarPU gave %u workers instead of %d", starpu_cpu_worker_get_count(), threads);
}

static void* symbol(void* library, const char* name)
{
    char prefixed[32]; /* in the wheels that SciPy is built with */
    snprintf(prefixed, sizeof prefixed, "scipy_%s", name);
    void* found = dlsym(library, name);
    if (!found) found = dlsym(library, prefixed);
    if (!found) trc_peer_fail("the library has no %s", name);
    return found;
}
static void load(const char* path)
{
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) trc_peer_fail("%s", dlerror());
    *(void**)&dpotrf = symbol(library, "dpotrf_");
    *(void**)&dtrsm = symbol(library, "dtrsm_");
    *(void**)&dsyrk = symbol(library, "dsyrk_");
    *(void**)&dgemm = symbol(library, "dgemm_");
}

/* L L^T of a known L, whose diagonal outweighs the rest of its rows: 1 below the diagonal divided by n, 2 on it. */
static double known(int n, int i, int j) { return i == j ? 2 : 1.0 / n; }
static void fill(double* A, int n)
{
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            const double below = 1.0 / n; /* sum over k < j, then k = j */
            A[i + (size_t)j * (size_t)n] = j * below * below + known(n, i, j) * 2;
        }
}
static double error(const double* A, int n)
{
    double largest = 0;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) largest = fmax(largest, fabs(A[i + (size_t)j * (size_t)n] / known(n, i, j) - 1));
    return largest;
}

int main(int argc, char** argv)
{
    if (argc != 6) return fprintf(stderr, "usage: %s N NB THREADS SCHEDULER LIBRARY\n", argv[0]), 2;
    const int n = trc_peer_number(argv[0], "N", argv[1], 100000), nb = trc_peer_number(argv[0], "NB", argv[2], 10000);
    const int threads = trc_peer_number(argv[0], "THREADS", argv[3], 4096), tiles = (n + nb - 1) / nb;
    load(argv[5]);
    start(threads, argv[4]);
    const size_t page = 2 << 20, bytes = ((size_t)n * (size_t)n * sizeof(double) + page - 1) / page * page;
    double* A = aligned_alloc(page, bytes);
    if (!A) trc_peer_fail("no memory for the matrix");
    madvise(A, bytes, MADV_HUGEPAGE); /* as NumPy has it on the other side */
    fill(A, n);
    starpu_data_handle_t* handles = register_tiles(A, n, nb, tiles);
    int version[3];
    starpu_get_version(&version[0], &version[1], &version[2]);
    printf("{\"name\": \"plain StarPU\", \"version\": \"%d.%d.%d\", \"threads\": %d, \"n\": %d, \"nb\": %d, \"scheduler\": "
           "\"%s\"}\n",
           version[0], version[1], version[2], threads, n, nb, argv[4]);
    fflush(stdout);
    starpu_pause();
    while (trc_peer_request()) {
        fill(A, n);
        starpu_resume();
        const double begin = trc_peer_seconds();
        factor(handles, tiles);
        const double took = trc_peer_seconds() - begin;
        starpu_pause();
        printf("%.9f %.3g\n", took, error(A, n));
        fflush(stdout);
    }
    starpu_resume();
    for (int i = 0; i < tiles * tiles; ++i)
        if (handles[i]) starpu_data_unregister_no_coherency(handles[i]);
    starpu_shutdown();
    free(handles);
    free(A);
    return 0;
}
