/* The peer for `trencadis compare tasks` on StarPU: empty codelets on the tile Cholesky graph. */
#include "protocol.h"

#include <starpu.h>

static void nothing(void* buffers[], void* arguments)
{
    (void)buffers;
    (void)arguments;
    trc_nothing();
}

static struct starpu_codelet potrf = {.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "potrf"};
static struct starpu_codelet trsm = {.cpu_funcs = {nothing}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "trsm"};
static struct starpu_codelet syrk = {.cpu_funcs = {nothing}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "syrk"};
static struct starpu_codelet gemm = {
    .cpu_funcs = {nothing}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}, .name = "gemm"};

static void submit_one(struct starpu_codelet* codelet, starpu_data_handle_t a, starpu_data_handle_t b, starpu_data_handle_t c)
{
    struct starpu_task* task = starpu_task_create();
    task->cl = codelet;
    task->handles[0] = a;
    task->handles[1] = b;
    task->handles[2] = c;
    if (starpu_task_submit(task) != 0) trc_peer_fail("starpu_task_submit refused a task");
}

/* Right-looking, like our own: potrf(k) rw kk; trsm(i,k) r kk, rw ik; gemm(i,j) r ik, r jk, rw ij; syrk(i) r ik, rw ii. */
static void run(starpu_data_handle_t* A, int n)
{
    for (int k = 0; k < n; ++k) {
        submit_one(&potrf, A[k * n + k], NULL, NULL);
        for (int i = k + 1; i < n; ++i) submit_one(&trsm, A[k * n + k], A[i * n + k], NULL);
        for (int i = k + 1; i < n; ++i) {
            for (int j = k + 1; j < i; ++j) submit_one(&gemm, A[i * n + k], A[j * n + k], A[i * n + j]);
            submit_one(&syrk, A[i * n + k], A[i * n + i], NULL);
        }
    }
    starpu_task_wait_for_all();
}

static starpu_data_handle_t* register_tiles(char* tiles, int n)
{
    starpu_data_handle_t* handles = calloc((size_t)n * (size_t)n, sizeof *handles);
    if (!handles) trc_peer_fail("no memory for the handles");
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            const size_t at = (size_t)i * (size_t)n + (size_t)j;
            starpu_variable_data_register(&handles[at], STARPU_MAIN_RAM, (uintptr_t)&tiles[at], 1);
        }
    return handles;
}

static void start(int threads)
{
    struct starpu_conf conf;
    setenv("STARPU_SILENT", "1", 0); /* its messages would otherwise go to standard error at every start */
    starpu_conf_init(&conf);
    conf.ncpus = threads;
    conf.ncuda = 0;
    conf.nopencl = 0;
    if (starpu_init(&conf) != 0) trc_peer_fail("starpu_init failed");
    if ((int)starpu_cpu_worker_get_count() != threads)
        trc_peer_fail("StarPU gave %u workers instead of %d; its build or the cores we may use allow no more",
                      starpu_cpu_worker_get_count(), threads);
}

int main(int argc, char** argv)
{
    const TrcPeerArguments arguments = trc_peer_arguments(argc, argv);
    const int n = arguments.tiles;
    start(arguments.threads);
    char* tiles = calloc((size_t)n * (size_t)n, 1);
    if (!tiles) trc_peer_fail("no memory for the tiles");
    starpu_data_handle_t* A = register_tiles(tiles, n);
    int version[3];
    char text[64];
    starpu_get_version(&version[0], &version[1], &version[2]);
    snprintf(text, sizeof text, "StarPU %d.%d.%d", version[0], version[1], version[2]);
    run(A, n);
    trc_peer_introduce("starpu", text, arguments);
    starpu_pause(); /* idle workers spin otherwise, and the other side is being timed */
    while (trc_peer_request()) {
        starpu_resume();
        const double begin = trc_peer_seconds();
        run(A, n);
        trc_peer_answer(trc_peer_seconds() - begin);
        starpu_pause();
    }
    starpu_resume();
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) starpu_data_unregister_no_coherency(A[i * n + j]);
    starpu_shutdown();
    free(A);
    free(tiles);
    return 0;
}
