/* Unbalanced Tree Search as the published GLT measured it: one unit per thread, a ULT or a tasklet, each with a stack of nodes of
 * its own; who has none left takes some of another's under a mutex. A unit offers the oldest nodes of its stack, a chunk at a
 * time, as the POSIX threads version of the benchmark does (Olivier et al. 2006). With --seconds a search ends early: then the
 * nodes that were seen in that time are counted, and cannot be checked. */
#include "face.h"
#include "program.h"
#include "uts_tree.h"

typedef struct Item {
    UtsNode node;
    int depth;
} Item;

typedef struct Stack {
    Item* items;
    int count, capacity;
} Stack;

/* `offered` is touched under the mutex alone; `visible` says how many it holds to who only wants to know whether to look. */
typedef struct Party {
    _Alignas(64) LwtMutex mutex;
    Stack offered;
    atomic_int visible;
    _Alignas(64) Stack own;
    UtsCount count;
    int number;
    union {
        LwtUlt ult;
        LwtTasklet tasklet;
    } unit;
} Party;

enum { LOOKS_AT_THE_CLOCK = 1024 };

static UtsSearch search;
static Party* parties;
static int threads, chunk, as_tasklets;
static atomic_int working, stopped;
static double deadline;

static void push(Stack* stack, const Item* items, int count)
{
    if (stack->count + count > stack->capacity) {
        stack->capacity = 2 * (stack->count + count);
        stack->items = (Item*)realloc(stack->items, (size_t)stack->capacity * sizeof *stack->items);
        if (!stack->items) program_fail(EXIT_WRONG, "no memory for %d nodes", stack->capacity);
    }
    memcpy(stack->items + stack->count, items, (size_t)count * sizeof *items);
    stack->count += count;
}

static void drop_oldest(Stack* stack, int count)
{
    stack->count -= count;
    memmove(stack->items, stack->items + count, (size_t)stack->count * sizeof *stack->items);
}

/* A tasklet has no stack to wait with. */
static void lock(Party* party)
{
    if (!as_tasklets) lwt_mutex_lock(&party->mutex);
    else
        while (!lwt_mutex_trylock(&party->mutex)) sched_yield();
}

static void give_way(void)
{
    if (as_tasklets) sched_yield();
    else lwt_yield();
}

static void offer(Party* party)
{
    lock(party);
    push(&party->offered, party->own.items, chunk);
    atomic_store_explicit(&party->visible, party->offered.count, memory_order_relaxed);
    lwt_mutex_unlock(&party->mutex);
    drop_oldest(&party->own, chunk);
}

/* Takes the oldest chunk that a party offers. Returns the number of nodes. */
static int take(Party* to, Party* from)
{
    if (atomic_load_explicit(&from->visible, memory_order_relaxed) == 0) return 0;
    lock(from);
    const int count = from->offered.count < chunk ? from->offered.count : chunk;
    if (count > 0) {
        push(&to->own, from->offered.items, count);
        drop_oldest(&from->offered, count);
        atomic_store_explicit(&from->visible, from->offered.count, memory_order_relaxed);
    }
    lwt_mutex_unlock(&from->mutex);
    return count;
}

/* Who looks counts as working, so that nobody ends while nodes are on their way. */
static int steal(Party* party)
{
    atomic_fetch_add(&working, 1);
    for (int i = 1; i < threads; ++i)
        if (take(party, &parties[(party->number + i) % threads])) return 1;
    atomic_fetch_sub(&working, 1);
    return 0;
}

static void visit(Party* party)
{
    const Item here = party->own.items[--party->own.count];
    const int children = uts_children(&search, &here.node, here.depth);
    const UtsCount seen = {1, children == 0, here.depth};
    uts_add(&party->count, &seen);
    for (int i = 0; i < children; ++i) {
        const Item child = {uts_child(&search, &here.node, (uint32_t)i), here.depth + 1};
        push(&party->own, &child, 1);
    }
    if (party->own.count > 2 * chunk && atomic_load_explicit(&party->visible, memory_order_relaxed) == 0) offer(party);
    if (deadline > 0 && party->count.nodes % LOOKS_AT_THE_CLOCK == 0 && program_seconds() > deadline) atomic_store(&stopped, 1);
}

static LWT_RESULT search_on_one(void* argument)
{
    Party* party = (Party*)argument;
    int has_work = party->own.count > 0;
    while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
        if (has_work && (party->own.count > 0 || take(party, party))) {
            visit(party);
            continue;
        }
        if (has_work) atomic_fetch_sub(&working, 1);
        has_work = steal(party);
        if (has_work) continue;
        if (atomic_load(&working) == 0) break;
        give_way();
    }
    LWT_RETURN;
}

static UtsCount run(const UtsTree* tree, double limit, double* seconds)
{
    const Item root = {uts_root(&search, tree->seed), 0};
    const double begin = program_seconds();
    UtsCount sum = {0, 0, 0};
    deadline = limit > 0 ? begin + limit : 0;
    atomic_store(&stopped, 0);
    atomic_store(&working, 1);
    for (int i = 0; i < threads; ++i) {
        parties[i].own.count = parties[i].offered.count = 0;
        parties[i].count = sum;
        atomic_store(&parties[i].visible, 0);
    }
    push(&parties[0].own, &root, 1);
    for (int i = 0; i < threads; ++i) {
        if (as_tasklets) lwt_tasklet_create_to(search_on_one, &parties[i], &parties[i].unit.tasklet, i);
        else lwt_ult_create_to(search_on_one, &parties[i], &parties[i].unit.ult, i);
    }
    for (int i = 0; i < threads; ++i) {
        if (as_tasklets) lwt_tasklet_join(&parties[i].unit.tasklet);
        else lwt_ult_join(&parties[i].unit.ult);
        uts_add(&sum, &parties[i].count);
    }
    *seconds = program_seconds() - begin;
    return sum;
}

static void begin_parties(void)
{
    parties = (Party*)aligned_alloc(64, (size_t)threads * sizeof *parties);
    if (!parties) program_fail(EXIT_WRONG, "no memory for %d threads", threads);
    memset(parties, 0, (size_t)threads * sizeof *parties);
    for (int i = 0; i < threads; ++i) {
        parties[i].number = i;
        lwt_mutex_create(&parties[i].mutex);
    }
}

static void end_parties(void)
{
    for (int i = 0; i < threads; ++i) {
        lwt_mutex_free(&parties[i].mutex);
        free(parties[i].own.items);
        free(parties[i].offered.items);
    }
    free(parties);
}

int main(int argc, char** argv)
{
    long wanted_threads = 2, wanted_chunk = 20, repeat = 1, json = 0, tasklets = 0, limit = 0;
    const ProgramOption options[] = {{"--threads", &wanted_threads, 1, 4096},
                                     {"--chunk", &wanted_chunk, 1, 100000},
                                     {"--seconds", &limit, 1, 3600},
                                     {"--repeat", &repeat, 1, PROGRAM_MOST_REPETITIONS},
                                     {"--tasklets", &tasklets, 0, 0},
                                     {"--json", &json, 0, 0},
                                     {NULL, NULL, 0, 0}};
    const char* word = NULL;
    program_begin(argv);
    program_arguments(argc, argv, "TREE [--threads T] [--tasklets] [--chunk NODES] [--seconds S] [--repeat R] [--json]", options,
                      1, &word);
    const UtsTree* tree = uts_find(word);
    search = uts_search(tree, sha1_block_best());
    threads = (int)wanted_threads;
    chunk = (int)wanted_chunk;
    as_tasklets = (int)tasklets;
    if (lwt_start(threads) != 0) program_fail(EXIT_WRONG, "%s does not start with %d threads", LWT_FORM, threads);
    begin_parties();
    double seconds[PROGRAM_MOST_REPETITIONS], per_node[PROGRAM_MOST_REPETITIONS];
    uint64_t nodes = 0;
    int whole = 1;
    for (int i = 0; i < (int)repeat; ++i) {
        const UtsCount count = run(tree, (double)limit, &seconds[i]);
        if (atomic_load(&stopped)) whole = 0;
        else uts_check(tree, &count);
        nodes = count.nodes;
        per_node[i] = 1e9 * seconds[i] / (double)(count.nodes ? count.nodes : 1);
    }
    if (json) {
        printf("{\"benchmark\": \"uts_threads\", \"tree\": \"%s\", \"library\": \"%s\", \"form\": \"%s\", \"threads\": %d, "
               "\"units\": \"%s\", \"chunk\": %d, \"nodes\": %llu, \"whole\": %s",
               tree->name, LWT_LIBRARY, LWT_FORM, threads, as_tasklets ? "tasklets" : "ults", chunk, (unsigned long long)nodes,
               whole ? "true" : "false");
        program_json_list("seconds", seconds, (int)repeat);
        program_json_list("ns_per_node", per_node, (int)repeat);
        printf("}\n");
    } else {
        printf("nodes=%llu%s seconds=%.6f ns_per_node=%.3f\n", (unsigned long long)nodes, whole ? "" : " (ended early)",
               program_statistics(seconds, (int)repeat).median, program_statistics(per_node, (int)repeat).median);
    }
    end_parties();
    lwt_end();
    return 0;
}
