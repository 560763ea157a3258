#pragma once
#include "base/types.hpp"
#include "graph/access.hpp"
#include "graph/codelet.hpp"

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
    AccessGroup* group;
    AccessNode* next_waiting; ///< written by the submitter, read by whoever releases the group
    AccessMode mode;
};

/// One task, from submission until it has finished; then the memory is used again. Fields before `unmet` are
/// written by the submitter only, before the task can be seen by others.
struct Task {
    static constexpr int inline_accesses = 4;
    static constexpr std::size_t inline_bytes = 144;

    const Codelet* codelet;
    const char* label;
    TaskFlow* flow;
    void* args;             ///< `storage`, or a block of its own when the arguments are larger
    AccessNode* accesses;   ///< `nodes`, or a block of its own beyond `inline_accesses`
    int access_count;
    bool has_commute;
    bool has_reduce;
    std::uint64_t order;    ///< place in the flow's submission order, from 0
    Flops flops;

    std::atomic<double> priority; ///< larger first; may still rise until the task becomes ready
    std::atomic<int> unmet;       ///< accesses not granted, plus 1 while being submitted
    std::atomic<bool> doomed;     ///< something it depends on failed: finish without running
    Task* next;                   ///< link in a chain of ready tasks, later in a free list
    Seconds ready_at = 0;

    AccessNode nodes[inline_accesses];
    alignas(16) std::byte storage[inline_bytes];
};

} // namespace trencadis
