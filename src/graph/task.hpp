#pragma once
#include "base/types.hpp"
#include "graph/access.hpp"
#include "graph/codelet.hpp"
#include "graph/data.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trencadis {

class TaskFlow;
struct AccessGroup;
struct Task;

/// A task's membership in a group of accesses to one datum.
struct AccessNode {
    Task* task;
    AccessGroup* group; ///< none: absorbed by another access of the task to the same datum
    union {
        AccessNode* next_waiting; ///< until granted; written by the submitter, read by whoever releases the group
        void* part;               ///< afterwards, of a `reduce` access: the private part in use
    };
    AccessMode mode;
};

/// One task, from submission until it has finished; then the memory is used again. Fields before `priority` are
/// written by the submitter only, before the task can be seen by others.
struct alignas(64) Task {
    static constexpr int inline_accesses = 4;
    static constexpr std::size_t inline_bytes = 208;
    static constexpr std::uint64_t finished = ~std::uint64_t{0};

    const Codelet* codelet;
    const char* label;
    TaskFlow* flow;
    void* args;           ///< `storage`, or a block of its own when the arguments are larger
    AccessNode* accesses; ///< `nodes`, or a block of its own beyond `inline_accesses`
    Datum* data;          ///< likewise: what each access names; apart, since few look at it once the task is submitted
    int access_count;
    bool has_commute;
    bool has_reduce;
    std::uint16_t depth; ///< how many flows the task's flow lies in
    Flops flops;
    std::atomic<std::uint64_t> order; ///< place in the flow's submission order, from 0; `finished` afterwards

    std::atomic<double> priority; ///< larger first; may still rise until the task becomes ready
    std::atomic<int> unmet;       ///< accesses not granted, plus 1 while being submitted
    std::atomic<bool> doomed;     ///< something it depends on failed: finish without running
    std::int16_t node;            ///< the memory node whose workers run it, or any_node; written by the submitter
    Task* next;                   ///< link in a chain of ready tasks, later in a free list
    AccessGroup* dead_groups;     ///< groups that ended with this task; travel home with it

    AccessNode nodes[inline_accesses];
    Datum named[inline_accesses];
    /// Where what it accesses is while a core runs it, where some of that is not at home; null: all is. Whoever brought it.
    const Operand* brought = nullptr;
    alignas(16) std::byte storage[inline_bytes];
};
// Tasks lie one after the other: a power of two would have their first lines share few sets of a cache.
static_assert(sizeof(Task) / 64 % 2 == 1);

} // namespace trencadis
