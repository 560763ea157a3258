/* The trees of the Unbalanced Tree Search benchmark (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS, an unbalanced
 * tree search benchmark, LCPC 2006): geometric trees of fixed shape. A node is a 20-byte state; child i has the SHA-1 of its
 * parent's state and i, so that any subtree can be counted knowing its root only, and nobody knows its size before. */
#ifndef TRENCADIS_BENCHMARKS_UTS_TREE_H
#define TRENCADIS_BENCHMARKS_UTS_TREE_H

#include "program.h"
#include "sha1.h"

#include <math.h>
#include <string.h>

/* No node has more children than this; part of the benchmark's definition. */
#define UTS_MOST_CHILDREN 100

typedef struct UtsTree {
    const char* name;
    uint32_t seed;
    int depth;        /* nodes at this depth have no children (gen_mx) */
    double branching; /* children of a node above it, in the mean (b_0) */
    /* The published numbers: sample_trees.sh of the UTS benchmark, which has no leaves of T1XXL. Those are as others
       have counted them (libfork's bench/source/uts). */
    uint64_t nodes;
    uint64_t leaves;
} UtsTree;

static const UtsTree uts_trees[] = {
    {"T1", 19, 10, 4, 4130071, 3305118},
    {"T1L", 29, 13, 4, 102181082, 81746377},
    {"T1XL", 29, 15, 4, 1635119272, 1308100063},
    {"T1XXL", 19, 15, 4, 4230646601, 3384495738},
};
enum { UTS_TREES = sizeof uts_trees / sizeof uts_trees[0] };

typedef struct UtsNode {
    uint32_t state[5]; /* the 20 bytes as big-endian words */
} UtsNode;

typedef struct UtsCount {
    uint64_t nodes;
    uint64_t leaves;
    int depth; /* of the deepest node */
} UtsCount;

static inline const UtsTree* uts_find(const char* name)
{
    for (int i = 0; i < UTS_TREES; ++i)
        if (strcmp(uts_trees[i].name, name) == 0) return &uts_trees[i];
    program_fail(EXIT_USAGE, "there is no tree '%s'; there are T1, T1L, T1XL and T1XXL", name);
}

static inline void uts_check(const UtsTree* tree, const UtsCount* count)
{
    if (count->nodes != tree->nodes || count->leaves != tree->leaves || count->depth != tree->depth)
        program_fail(EXIT_WRONG, "%s: %llu nodes, %llu leaves, depth %d instead of %llu, %llu, %d", tree->name,
                     (unsigned long long)count->nodes, (unsigned long long)count->leaves, count->depth,
                     (unsigned long long)tree->nodes, (unsigned long long)tree->leaves, tree->depth);
}

/* What is the same for all nodes of a run. */
typedef struct UtsSearch {
    int depth;
    double log_failure; /* log(1 - p), p = 1 / (1 + branching): the chance that a node has no further child */
    Sha1Block sha1;
} UtsSearch;

static inline UtsSearch uts_search(const UtsTree* tree, Sha1Block sha1)
{
    const double p = 1.0 / (1.0 + tree->branching);
    const UtsSearch search = {tree->depth, log(1.0 - p), sha1};
    return search;
}

/* The root's state: the SHA-1 of 16 zero bytes and the seed. */
static inline UtsNode uts_root(const UtsSearch* search, uint32_t seed)
{
    const uint32_t block[16] = {0, 0, 0, 0, seed, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 * 8};
    UtsNode root;
    search->sha1(block, root.state);
    return root;
}

static inline UtsNode uts_child(const UtsSearch* search, const UtsNode* parent, uint32_t number)
{
    uint32_t block[16] = {0, 0, 0, 0, 0, number, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 24 * 8};
    memcpy(block, parent->state, sizeof parent->state);
    UtsNode child;
    search->sha1(block, child.state);
    return child;
}

/* Geometric distribution by the inverse of its cumulative density: floor(log(1 - u) / log(1 - p)), u in [0, 1) from the state's
 * last 31 bits. */
static inline int uts_children(const UtsSearch* search, const UtsNode* node, int depth)
{
    if (depth >= search->depth) return 0;
    const double u = (double)(node->state[4] & 0x7fffffff) / 2147483648.0;
    const int children = (int)floor(log(1.0 - u) / search->log_failure);
    return children < UTS_MOST_CHILDREN ? children : UTS_MOST_CHILDREN;
}

static inline void uts_add(UtsCount* sum, const UtsCount* other)
{
    sum->nodes += other->nodes;
    sum->leaves += other->leaves;
    if (other->depth > sum->depth) sum->depth = other->depth;
}

/* Counts the subtree under `node`, itself included, without any help. */
static inline void uts_count(const UtsSearch* search, const UtsNode* node, int depth, UtsCount* sum)
{
    const int children = uts_children(search, node, depth);
    ++sum->nodes;
    if (depth > sum->depth) sum->depth = depth;
    if (children == 0) ++sum->leaves;
    for (int i = 0; i < children; ++i) {
        const UtsNode child = uts_child(search, node, (uint32_t)i);
        uts_count(search, &child, depth + 1, sum);
    }
}

#endif
