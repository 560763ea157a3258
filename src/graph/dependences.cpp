#include "graph/dependences.hpp"

#include "graph/fixed_lists.hpp"
#include "graph/overlaps.hpp"

#include <cstdint>
#include <memory>
#include <new>

namespace trencadis {

void* acquire_part(AccessGroup& group)
{
    if (!group.parts) group.parts = new Parts;
    Parts& parts = *group.parts;
    if (parts.unused.empty()) {
        parts.all.reserve(parts.all.size() + 1);
        parts.unused.reserve(parts.all.size() + 1); // so that return_part does not throw
        void* part = ::operator new (group.how->bytes, std::align_val_t{64});
        group.how->initialise(part);
        parts.all.push_back(part);
        return part;
    }
    void* part = parts.unused.back();
    parts.unused.pop_back();
    return part;
}

void return_part(AccessGroup& group, void* part) { group.parts->unused.push_back(part); }

void combine_parts(AccessGroup& group)
{
    if (!group.parts) return;
    for (void* part : group.parts->all) {
        group.how->combine(group.datum, part);
        ::operator delete (part, std::align_val_t{64});
    }
    delete group.parts;
    group.parts = nullptr;
}

void GroupPool::reserve(int count)
{
    while (free_count_ < count) {
        const int size = blocks_.empty() ? 16 : 256;
        blocks_.push_back(std::make_unique<AccessGroup[]>(size));
        for (int i = 0; i < size; ++i) {
            blocks_.back()[i].next = free_;
            free_ = &blocks_.back()[i];
        }
        free_count_ += size;
    }
}

AccessGroup* GroupPool::take(AccessMode mode)
{
    AccessGroup* group = free_;
    free_ = group->next;
    --free_count_;
    group->holders.store(1, std::memory_order_relaxed);
    group->waiting.store(nullptr, std::memory_order_relaxed);
    group->doomed.store(false, std::memory_order_relaxed);
    group->commute_taken = false;
    group->mode = mode;
    group->next = nullptr;
    group->how = nullptr;
    return group;
}

void GroupPool::give_back(AccessGroup* chain)
{
    while (chain) {
        AccessGroup* next = chain->next;
        chain->next = free_;
        free_ = chain;
        ++free_count_;
        chain = next;
    }
}

DependenceTable::DependenceTable(std::int64_t lists)
{
    if (lists) fixed_ = std::make_unique<FixedLists>(static_cast<std::size_t>(lists));
}
DependenceTable::~DependenceTable() { clear(); }

void DependenceTable::reserve(int count)
{
    pool_.reserve(count);
    if (fixed_) fixed_->reserve(count);
    else if ((used_ + count) * 4 > slots_.size() * 3) rehash(count);
}

DependenceTable::Entry& DependenceTable::find(const void* key)
{
    if (fixed_)
        return fixed_->find(key, [this](Entry& entry) {
            if (!entry.newest || !at_rest(*entry.newest)) return false;
            dispose(entry.newest);
            --used_;
            return true;
        });
    // Fibonacci hashing: tile addresses differ in high and in low bits, the product mixes both into the top ones.
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = (reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15ull) >> shift_;
    while (slots_[i].newest && slots_[i].key != key) i = (i + 1) & mask;
    return slots_[i];
}

bool DependenceTable::at_rest(const AccessGroup& group)
{
    // Acquire pairs with the members' release in leave: what they wrote is visible to whoever starts a new history.
    return group.holders.load(std::memory_order_acquire) == 1 &&
           group.waiting.load(std::memory_order_acquire) == AccessGroup::granted() && !group.parts &&
           !group.doomed.load(std::memory_order_relaxed);
}

DependenceTable::Entry* DependenceTable::in_use(const void* key)
{
    if (slots_.empty()) return nullptr;
    Entry& entry = find(key);
    return entry.newest && !at_rest(*entry.newest) ? &entry : nullptr;
}

/// Forgets the data that no unfinished task uses, and grows the table unless that made room for `count` more.
void DependenceTable::rehash(std::size_t count)
{
    std::size_t busy = 0;
    for (const Entry& entry : slots_) busy += entry.newest && !at_rest(*entry.newest);
    std::size_t size = slots_.empty() ? 32 : slots_.size();
    while ((busy + count) * 2 > size) size *= 4;

    std::vector<Entry> old(size, Entry{});
    old.swap(slots_);
    used_ = 0;
    shift_ = 64;
    for (std::size_t s = size; s > 1; s /= 2) --shift_;
    for (const Entry& entry : old) {
        if (!entry.newest) continue;
        if (at_rest(*entry.newest)) {
            dispose(entry.newest);
            continue;
        }
        find(entry.key) = entry;
        ++used_;
    }
}

AccessGroup* DependenceTable::open(Entry& entry, AccessMode mode, const Access& access)
{
    AccessGroup* group = pool_.take(mode);
    group->how = access.reduction;
    group->datum = const_cast<void*>(access.datum.address);
    AccessGroup* previous = entry.newest;
    entry.newest = group;
    if (!previous) {
        ++used_;
        entry.key = access.datum.address;
        entry.span = span_of(access.datum);
        group->waiting.store(AccessGroup::granted(), std::memory_order_relaxed);
        return group;
    }
    // Close the previous group. Release: `next` is visible to the last member; acquire: if that was us, the
    // members' writes are visible to the task we are about to grant.
    previous->next = group;
    if (previous->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        combine_parts(*previous);
        group->doomed.store(previous->doomed.load(std::memory_order_relaxed), std::memory_order_relaxed);
        group->waiting.store(AccessGroup::granted(), std::memory_order_relaxed);
        dispose(previous);
    }
    return group;
}

bool DependenceTable::join(AccessNode& node, const Access& access)
{
    Entry& entry = find(access.datum.address);
    AccessGroup* group = entry.newest;
    const bool joins = group && is_shared(node.mode) && group->mode == node.mode &&
                       (node.mode != AccessMode::reduce || group->how == access.reduction);
    if (joins) group->holders.fetch_add(1, std::memory_order_relaxed); // we hold it open: it cannot be over
    else {
        group = open(entry, node.mode, access);
        group->holders.fetch_add(1, std::memory_order_relaxed);
    }
    node.group = group;
    // Release publishes the node to whoever releases the group; acquire, on failure, orders the task after the release.
    AccessNode* first = group->waiting.load(std::memory_order_acquire);
    do {
        if (first == AccessGroup::granted()) {
            if (group->doomed.load(std::memory_order_relaxed)) node.task->doomed.store(true, std::memory_order_relaxed);
            node.part = nullptr;
            return true;
        }
        node.next_waiting = first;
    } while (!group->waiting.compare_exchange_weak(first, &node, std::memory_order_acq_rel, std::memory_order_acquire));
    return false;
}

void DependenceTable::dispose(AccessGroup* group)
{
    group->next = nullptr;
    pool_.give_back(group);
}

void DependenceTable::clear()
{
    const auto forget = [this](Entry& entry) {
        if (!entry.newest) return;
        combine_parts(*entry.newest);
        dispose(entry.newest);
        entry.newest = nullptr;
    };
    for (Entry& entry : slots_) forget(entry);
    if (fixed_) fixed_->clear(forget);
    used_ = 0;
}

/// What follows is readers at most, of the same value.
bool is_last_write(const AccessNode& node)
{
    if (node.mode != AccessMode::write && node.mode != AccessMode::readwrite) return false;
    const AccessGroup* const next = node.group->next;
    return !next || (next->mode == AccessMode::read && !next->next);
}

AccessNode* leave(AccessNode& node, bool spoilt)
{
    AccessGroup* group = node.group;
    if (!group) return nullptr;
    if (spoilt && is_writing(node.mode)) group->doomed.store(true, std::memory_order_relaxed);
    // Release: this task's writes and `doomed` go to the last one out; acquire: the last one out has them all.
    if (group->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;

    AccessGroup* next = group->next;
    combine_parts(*group);
    const bool doomed = group->doomed.load(std::memory_order_relaxed);
    if (doomed) next->doomed.store(true, std::memory_order_relaxed);
    AccessNode* members = next->waiting.exchange(AccessGroup::granted(), std::memory_order_acq_rel);
    if (doomed)
        for (AccessNode* member = members; member; member = member->next_waiting)
            member->task->doomed.store(true, std::memory_order_relaxed);
    group->next = node.task->dead_groups;
    node.task->dead_groups = group;
    return members;
}

} // namespace trencadis
