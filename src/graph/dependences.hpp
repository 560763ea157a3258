#pragma once
#include "graph/access.hpp"
#include "graph/task.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace trencadis {

/// Consecutive accesses to one datum that may be held together: all readers between two writers, say, or one writer alone.
/// A datum's history is a chain of groups; a group is released when the one before it is over, that is closed (a newer
/// group exists) and left by every member. One counter per group replaces an edge per pair of tasks, so a
/// tile read by n tasks costs its next writer one wait, not n.
///
/// Invariants. Only the flow's owner adds members and groups. `holders` counts the unfinished members, plus one while the
/// group is its datum's newest; whoever takes it to zero releases `next` and disposes of the group, exactly once.
struct AccessGroup {
    std::atomic<int> holders{1};
    std::atomic<bool> doomed{false}; ///< a task that wrote the datum before this group failed
    bool commute_taken = false;      ///< one member of a commute group runs (under the flow's lock)
    AccessMode mode;
    std::atomic<AccessNode*> waiting{nullptr}; ///< members to release, or granted()
    AccessGroup* next = nullptr;               ///< written by the owner before it gives up its hold
    Task* parked = nullptr;                    ///< ready members of a commute group whose turn it is not (under the flow's lock)
    void* datum = nullptr;                     ///< address of what all this is about
    const Reduction* how = nullptr;            ///< of a reduce group
    struct Parts* parts = nullptr;             ///< likewise: the private parts, from the first use (under the flow's lock)

    /// The value of `waiting` once the group was released.
    static AccessNode* granted() { return reinterpret_cast<AccessNode*>(std::uintptr_t{1}); }
};

/// Private parts of one reduce group: at most as many as tasks ran at once.
struct Parts {
    std::vector<void*> all;
    std::vector<void*> unused;
};
/// A part for one running member; the caller holds the flow's lock.
void* acquire_part(AccessGroup& group);
void return_part(AccessGroup& group, void* part);
/// Folds the parts into the datum. The group is over: nobody else uses it.
void combine_parts(AccessGroup& group);

/// Memory for groups: taken and refilled by the flow's owner only.
class GroupPool {
public:
    void reserve(int count); ///< may throw; take() then does not, `count` times
    AccessGroup* take(AccessMode mode);
    void give_back(AccessGroup* chain); ///< linked by `next`
private:
    AccessGroup* free_ = nullptr;
    int free_count_ = 0;
    std::vector<std::unique_ptr<AccessGroup[]>> blocks_;
};

/// Finds what a task must wait for, from the accesses of the tasks submitted before it. A hash table: address -> newest group;
/// resizable, or of a fixed number of lists where a runtime of the literature is to be reproduced. Pure: no thread, clock or
/// lock; one owner calls it, and what finishing tasks do concurrently (leave) touches groups only. Expected O(1) per access.
/// Literature: the address-to-last-writer tables of OpenMP runtimes; the chain of access groups is that of multi-access queues in
/// Nanos6 (Alvarez et al. 2021).
class DependenceTable {
public:
    /// `lists`: of a table of fixed size; 0: a table that grows.
    explicit DependenceTable(std::int64_t lists = 0);
    ~DependenceTable();
    DependenceTable(const DependenceTable&) = delete;
    DependenceTable& operator=(const DependenceTable&) = delete;

    /// Makes room for `count` more data and groups, so that join does not throw.
    void reserve(int count);
    /// Adds one access of a task to its datum's history; true when it is granted at once.
    bool join(AccessNode& node, const Access& access);
    /// Forgets everything; every task must have finished. Folds reductions that no later access closed.
    void clear();
    void recycle(AccessGroup* chain) { pool_.give_back(chain); }
    std::size_t capacity() const { return slots_.size(); }
    std::size_t size() const { return used_; } ///< data known; those that are at rest are dropped when it grows

    /// What is known of one datum.
    struct Entry {
        const void* key;
        AccessGroup* newest;
        std::uintptr_t span; ///< bytes from its first to its last one, as it was named
    };

    /// The datum called `key`, where a task that has not finished has named it; else null. Not of a table of fixed size.
    Entry* in_use(const void* key);

private:
    Entry& find(const void* key);
    void rehash(std::size_t count);
    AccessGroup* open(Entry& entry, AccessMode mode, const Access& access);
    static bool at_rest(const AccessGroup& group);
    void dispose(AccessGroup* group);

    std::vector<Entry> slots_;
    std::unique_ptr<class FixedLists> fixed_; ///< instead of the slots
    std::size_t used_ = 0;
    int shift_ = 64;
    GroupPool pool_;
};

/// Will no other task write the datum that the access writes alone? Of a task that has not finished, while nothing is added to
/// its flow.
bool is_last_write(const AccessNode& node);

/// A finished task gives up one access. Returns the members of the next group if this releases it (linked by next_waiting);
/// `spoilt`: the task failed or was not run, so that what follows on data it was to write must not run.
/// A group that is over is put on `task->dead_groups`. Any thread.
AccessNode* leave(AccessNode& node, bool spoilt);

} // namespace trencadis
