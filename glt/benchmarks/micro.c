/* The micro-benchmarks of the literature on lightweight threads (Castello, Pena, Seo, Mayo, Balaji, Quintana-Orti: A review of
 * lightweight thread approaches for high performance computing, CLUSTER 2016), each on every thread at once. Nanoseconds per
 * unit:
 *
 *   own            each thread creates and joins its own batch; the time from the first creator's start to the last one's end
 *   one            thread 0 creates a batch for every thread and joins all of them; its time over all units of all threads
 *   ult, tasklet   create and join, batch after batch, in the own queue: the thread's time over its units
 *   yield          two ULTs per thread that yield to each other: the thread's time over its yields
 *   fork-join      Fibonacci's recursion, a ULT per call: the time over all units
 *
 * The units do nothing, so that all of it is the library's. */
#include "face.h"
#include "program.h"

enum { YIELDS = 20000, YIELDERS = 2, MOST_FIBONACCI = 40 };

static int threads, batch, batches, recursion;
static atomic_int arrived; /* threads that are ready to begin a timed part */

static LWT_RESULT nothing(void* argument)
{
    (void)argument;
    LWT_RETURN;
}

/* Begins on all threads together, so that none is timed while others sleep. Yielding, should there be more threads than cores. */
static void meet(int expected)
{
    atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&arrived, memory_order_acquire) < expected) lwt_yield();
}

typedef struct Worker {
    int thread;
    double seconds;
    LwtBatch batch;
    LwtUlt ult;
} Worker;

static Worker* workers;

static void make_ults(LwtBatch* units)
{
    lwt_batch_expect(units, batch);
    for (int i = 0; i < batch; ++i) lwt_batch_ult(units, i, nothing);
    lwt_batch_join_ults(units, batch);
}

static void make_tasklets(LwtBatch* units)
{
    lwt_batch_expect(units, batch);
    for (int i = 0; i < batch; ++i) lwt_batch_tasklet(units, i, nothing);
    lwt_batch_join_tasklets(units, batch);
}

static LWT_RESULT own_worker(void* argument)
{
    make_ults(&((Worker*)argument)->batch);
    LWT_RETURN;
}

static LWT_RESULT ult_worker(void* argument)
{
    Worker* worker = (Worker*)argument;
    meet(threads);
    const double begin = program_seconds();
    for (int round = 0; round < batches; ++round) make_ults(&worker->batch);
    worker->seconds = program_seconds() - begin;
    LWT_RETURN;
}

static LWT_RESULT tasklet_worker(void* argument)
{
    Worker* worker = (Worker*)argument;
    meet(threads);
    const double begin = program_seconds();
    for (int round = 0; round < batches; ++round) make_tasklets(&worker->batch);
    worker->seconds = program_seconds() - begin;
    LWT_RETURN;
}

static LWT_RESULT yield_worker(void* argument)
{
    Worker* worker = (Worker*)argument;
    meet(YIELDERS * threads);
    const double begin = program_seconds();
    for (int i = 0; i < YIELDS; ++i) lwt_yield();
    worker->seconds = program_seconds() - begin;
    LWT_RETURN;
}

/* Runs `function` in `count` ULTs dealt over the threads, and gives their mean time. */
static double on_all_threads(LWT_RESULT (*function)(void*), int count)
{
    double sum = 0;
    atomic_store(&arrived, 0);
    for (int i = 0; i < count; ++i) lwt_ult_create_to(function, &workers[i], &workers[i].ult, workers[i].thread);
    for (int i = 0; i < count; ++i) {
        lwt_ult_join(&workers[i].ult);
        sum += workers[i].seconds;
    }
    return sum / count;
}

static double measure_own(void)
{
    const double begin = program_seconds();
    on_all_threads(own_worker, threads);
    return (program_seconds() - begin) / batch;
}

static double measure_one(void)
{
    const double begin = program_seconds();
    for (int thread = 0; thread < threads; ++thread) lwt_batch_expect(&workers[thread].batch, batch);
    for (int i = 0; i < batch; ++i)
        for (int thread = 0; thread < threads; ++thread) lwt_batch_ult_to(&workers[thread].batch, i, nothing, thread);
    for (int thread = 0; thread < threads; ++thread) lwt_batch_join_ults(&workers[thread].batch, batch);
    return (program_seconds() - begin) / batch / threads;
}

static double measure_ult(void) { return on_all_threads(ult_worker, threads) / batches / batch; }
static double measure_tasklet(void) { return on_all_threads(tasklet_worker, threads) / batches / batch; }
static double measure_yield(void) { return on_all_threads(yield_worker, YIELDERS * threads) / YIELDS / YIELDERS; }

typedef struct Fibonacci {
    int n;
    long value;
    LwtUlt ult;
} Fibonacci;

static LWT_RESULT fibonacci(void* argument)
{
    Fibonacci* here = (Fibonacci*)argument;
    if (here->n < 2) {
        here->value = here->n;
        LWT_RETURN;
    }
    Fibonacci first = {here->n - 1, 0, here->ult}, second = {here->n - 2, 0, here->ult};
    lwt_ult_create(fibonacci, &first, &first.ult);
    lwt_ult_create(fibonacci, &second, &second.ult);
    lwt_ult_join(&first.ult);
    lwt_ult_join(&second.ult);
    here->value = first.value + second.value;
    LWT_RETURN;
}

/* fib(n) takes 2 fib(n + 1) - 1 calls. */
static double measure_fork_join(void)
{
    long value = 0, next = 1;
    for (int i = 0; i < recursion; ++i) {
        const long sum = value + next;
        value = next;
        next = sum;
    }
    Fibonacci all;
    memset(&all, 0, sizeof all);
    all.n = recursion;
    const double begin = program_seconds();
    lwt_ult_create(fibonacci, &all, &all.ult);
    lwt_ult_join(&all.ult);
    const double seconds = program_seconds() - begin;
    if (all.value != value) program_fail(EXIT_WRONG, "fib(%d) is %ld, not %ld", recursion, value, all.value);
    return seconds / (double)(2 * next - 1);
}

static const struct Benchmark {
    const char* name;
    double (*measure)(void); /* seconds per unit */
} benchmarks[] = {{"own", measure_own},         {"one", measure_one},     {"ult", measure_ult},
                  {"tasklet", measure_tasklet}, {"yield", measure_yield}, {"fork-join", measure_fork_join}};
enum { BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0] };

static void report(const struct Benchmark* benchmark, const double* ns, int repeat, int json)
{
    const ProgramStatistics all = program_statistics(ns, repeat);
    if (!json) {
        printf("%s library=%s form=%s threads=%d repeat=%d ns=%.1f min=%.1f max=%.1f\n", benchmark->name, LWT_LIBRARY, LWT_FORM,
               threads, repeat, all.median, all.least, all.greatest);
        return;
    }
    printf("{\"benchmark\": \"%s\", \"library\": \"%s\", \"form\": \"%s\", \"threads\": %d, \"batch\": %d, \"ns_median\": %.9g, "
           "\"ns_min\": %.9g, \"ns_max\": %.9g",
           benchmark->name, LWT_LIBRARY, LWT_FORM, threads, batch, all.median, all.least, all.greatest);
    program_json_list("ns", ns, repeat);
    printf("}\n");
}

static void run(const struct Benchmark* benchmark, int repeat, int json)
{
    double ns[PROGRAM_MOST_REPETITIONS];
    benchmark->measure(); /* first use of stacks and caches */
    for (int i = 0; i < repeat; ++i) ns[i] = 1e9 * benchmark->measure();
    report(benchmark, ns, repeat, json);
}

static void make_workers(void)
{
    workers = (Worker*)calloc((size_t)(YIELDERS * threads), sizeof *workers);
    if (!workers) program_fail(EXIT_WRONG, "no memory for %d workers", YIELDERS * threads);
    for (int i = 0; i < YIELDERS * threads; ++i) {
        workers[i].thread = i % threads;
        if (lwt_batch_begin(&workers[i].batch, batch) != 0) program_fail(EXIT_WRONG, "no memory for %d handles", batch);
    }
}

static void free_workers(void)
{
    for (int i = 0; i < YIELDERS * threads; ++i) lwt_batch_end(&workers[i].batch);
    free(workers);
}

int main(int argc, char** argv)
{
    long wanted_threads = 2, units = 1000, rounds = 100, fib = 20, repeat = 7, json = 0;
    const ProgramOption options[] = {{"--threads", &wanted_threads, 1, 4096},
                                     {"--batch", &units, 1, 1000000},
                                     {"--batches", &rounds, 1, 1000000},
                                     {"--fibonacci", &fib, 1, MOST_FIBONACCI},
                                     {"--repeat", &repeat, 1, PROGRAM_MOST_REPETITIONS},
                                     {"--json", &json, 0, 0},
                                     {NULL, NULL, 0, 0}};
    const char* word = NULL;
    const struct Benchmark* chosen = NULL;
    program_begin(argv);
    program_arguments(argc, argv,
                      "own|one|ult|tasklet|yield|fork-join|all [--threads T] [--batch UNITS] [--batches B] [--fibonacci N] "
                      "[--repeat R] [--json]",
                      options, 1, &word);
    for (int i = 0; i < BENCHMARKS; ++i)
        if (strcmp(benchmarks[i].name, word) == 0) chosen = &benchmarks[i];
    if (!chosen && strcmp(word, "all") != 0) program_fail(EXIT_USAGE, "there is no benchmark '%s'; see --help", word);
    threads = (int)wanted_threads;
    batch = (int)units;
    batches = (int)rounds;
    recursion = (int)fib;
    if (lwt_start(threads) != 0) program_fail(EXIT_WRONG, "%s does not start with %d threads", LWT_FORM, threads);
    make_workers();
    for (int i = 0; i < BENCHMARKS; ++i)
        if (!chosen || chosen == &benchmarks[i]) run(&benchmarks[i], (int)repeat, (int)json);
    free_workers();
    lwt_end();
    return 0;
}
