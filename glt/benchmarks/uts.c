/* Unbalanced Tree Search: counts the nodes of a tree of which only the root is known. A ULT for every node above the cutoff,
 * which waits for its children, and a tasklet for every subtree that begins there; nodes without children are counted where
 * they are found. The cutoff leaves subtrees of branching^grain nodes in the mean: small enough for the last ones to end
 * together, large enough for their count to hide a unit. */
#include "face.h"
#include "program.h"
#include "uts_tree.h"

static UtsSearch search;
static int threads, cutoff;

typedef struct Subtree {
    UtsNode root;
    int depth;
    UtsCount count;
    union {
        LwtUlt ult;
        LwtTasklet tasklet;
    } unit;
} Subtree;

static LWT_RESULT count_alone(void* argument)
{
    Subtree* subtree = (Subtree*)argument;
    UtsCount count = {0, 0, 0};
    uts_count(&search, &subtree->root, subtree->depth, &count);
    subtree->count = count;
    LWT_RETURN;
}

static LWT_RESULT count_children(void* argument);

static void start(Subtree* subtree, unsigned turn)
{
    if (subtree->depth < cutoff) lwt_ult_deal(count_children, subtree, &subtree->unit.ult, turn, threads);
    else lwt_tasklet_deal(count_alone, subtree, &subtree->unit.tasklet, turn, threads);
}

static void join(Subtree* subtree)
{
    if (subtree->depth < cutoff) lwt_ult_join(&subtree->unit.ult);
    else lwt_tasklet_join(&subtree->unit.tasklet);
}

static LWT_RESULT count_children(void* argument)
{
    Subtree* here = (Subtree*)argument;
    const int children = uts_children(&search, &here->root, here->depth), depth = here->depth + 1;
    UtsCount count = {1, children == 0, here->depth};
    Subtree subtrees[UTS_MOST_CHILDREN];
    int started = 0;
    for (int i = 0; i < children; ++i) {
        Subtree* subtree = &subtrees[started];
        subtree->root = uts_child(&search, &here->root, (uint32_t)i);
        subtree->depth = depth;
        if (uts_children(&search, &subtree->root, depth) == 0) {
            const UtsCount leaf = {1, 1, depth};
            uts_add(&count, &leaf);
        } else {
            start(subtree, here->root.state[0] % 4096 + (unsigned)started++);
        }
    }
    for (int i = 0; i < started; ++i) {
        join(&subtrees[i]);
        uts_add(&count, &subtrees[i].count);
    }
    here->count = count;
    LWT_RETURN;
}

static UtsCount run(const UtsTree* tree, double* seconds)
{
    Subtree all;
    memset(&all, 0, sizeof all);
    const double begin = program_seconds();
    all.root = uts_root(&search, tree->seed);
    lwt_ult_create(count_children, &all, &all.unit.ult);
    lwt_ult_join(&all.unit.ult);
    *seconds = program_seconds() - begin;
    return all.count;
}

/* The same nodes by one core and no library: what the parallel runs are measured against. */
static UtsCount run_alone(const UtsTree* tree, double* seconds)
{
    UtsCount count = {0, 0, 0};
    const double begin = program_seconds();
    const UtsNode root = uts_root(&search, tree->seed);
    uts_count(&search, &root, 0, &count);
    *seconds = program_seconds() - begin;
    return count;
}

static void print_json(const UtsTree* tree, const double* seconds, int repeat, const char* library, const char* form)
{
    printf("{\"benchmark\": \"uts\", \"tree\": \"%s\", \"library\": \"%s\", \"form\": \"%s\", \"threads\": %d, \"cutoff\": %d, "
           "\"nodes\": %llu, \"leaves\": %llu, \"depth\": %d, \"sha1\": \"%s\", \"seconds_median\": %.9g",
           tree->name, library, form, threads, cutoff, (unsigned long long)tree->nodes, (unsigned long long)tree->leaves,
           tree->depth, search.sha1 == sha1_block_portable ? "portable" : "instructions",
           program_statistics(seconds, repeat).median);
    program_json_list("seconds", seconds, repeat);
    printf("}\n");
}

int main(int argc, char** argv)
{
    long wanted_threads = 2, grain = 6, repeat = 1, json = 0, alone = 0;
    const ProgramOption options[] = {{"--threads", &wanted_threads, 1, 4096},
                                     {"--grain", &grain, 1, 15},
                                     {"--repeat", &repeat, 1, PROGRAM_MOST_REPETITIONS},
                                     {"--json", &json, 0, 0},
                                     {"--alone", &alone, 0, 0},
                                     {NULL, NULL, 0, 0}};
    const char* word = NULL;
    program_begin(argv);
    program_arguments(argc, argv, "TREE [--threads T] [--grain LEVELS_PER_UNIT] [--repeat R] [--alone] [--json]", options, 1,
                      &word);
    const UtsTree* tree = uts_find(word);
    search = uts_search(tree, sha1_block_best());
    threads = alone ? 1 : (int)wanted_threads;
    cutoff = tree->depth > (int)grain ? tree->depth - (int)grain : 1;
    if (!alone && lwt_start(threads) != 0) program_fail(EXIT_WRONG, "%s does not start with %d threads", LWT_FORM, threads);
    double seconds[PROGRAM_MOST_REPETITIONS];
    for (int i = 0; i < (int)repeat; ++i) {
        const UtsCount count = alone ? run_alone(tree, &seconds[i]) : run(tree, &seconds[i]);
        uts_check(tree, &count);
    }
    if (json) print_json(tree, seconds, (int)repeat, alone ? "none" : LWT_LIBRARY, alone ? "alone" : LWT_FORM);
    else printf("nodes=%llu seconds=%.6f\n", (unsigned long long)tree->nodes, program_statistics(seconds, (int)repeat).median);
    if (!alone) lwt_end();
    return 0;
}
