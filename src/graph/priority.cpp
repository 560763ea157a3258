#include "graph/priority.hpp"

#include <algorithm>
#include <bit>

namespace trencadis {

// A record's task is recognised as unfinished by its order: the pool hands the memory out again only through the owner,
// who is the caller here, and a task that has finished is marked by order = none (TaskFlow::finish).

namespace {
constexpr std::int64_t fewest = 64; ///< records: most calls are small
constexpr std::int64_t usual = 1 << 16, most = 1 << 22;
} // namespace

BottomLevels::BottomLevels(std::int64_t window)
    : records_(fewest),
      most_(
          std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(2 * window, fewest, window > usual ? most : usual)))),
      mask_(records_.size() - 1)
{
}

/// For a record more. Where there are as many as may be, the oldest task is forgotten.
void BottomLevels::make_room(std::uint64_t order)
{
    while (oldest_ < order && !unfinished(oldest_)) ++oldest_;
    if (order - oldest_ <= mask_) return;
    const std::uint64_t wanted = std::min(most_, std::bit_ceil(order - oldest_ + 1));
    if (order - oldest_ > wanted - 1) oldest_ = order - (wanted - 1);
    if (wanted > records_.size()) {
        std::vector<Record> more(wanted);
        const std::uint64_t kept = std::max(oldest_, order > records_.size() ? order - records_.size() : 0);
        for (std::uint64_t i = kept; i < order; ++i) more[i & (more.size() - 1)] = std::move(record(i));
        records_.swap(more);
        mask_ = records_.size() - 1;
    }
}

bool BottomLevels::unfinished(std::uint64_t order)
{
    if (order < oldest_) return false;
    const Task* task = record(order).task; // null where a task in between derives no priority and left no record
    return task && task->order.load(std::memory_order_relaxed) == order;
}

void BottomLevels::prune(std::vector<std::uint64_t>& members)
{
    std::erase_if(members, [this](std::uint64_t order) { return !unfinished(order); });
}

void BottomLevels::note(std::uint64_t order, const Access& access, AccessMode mode)
{
    History& history = histories_[access.datum.address];
    if (history.newest.empty() || !is_shared(mode) || history.mode != mode) {
        history.previous.swap(history.newest);
        history.newest.clear();
        history.mode = mode;
    }
    Record& mine = record(order);
    for (const std::uint64_t before : history.previous)
        if (unfinished(before)) mine.before.push_back(before);
    if (history.newest.size() == history.newest.capacity()) prune(history.newest);
    history.newest.push_back(order);
}

void BottomLevels::add(Task& task, std::span<const AccessNode> nodes, std::span<const Access> accesses, Seconds cost, double base)
{
    const std::uint64_t order = task.order.load(std::memory_order_relaxed);
    next_ = order + 1;
    make_room(order);
    Record& mine = record(order);
    mine.task = &task;
    mine.cost = mine.level = cost;
    mine.base = base;
    mine.before.clear();
    for (std::size_t i = 0; i < accesses.size(); ++i)
        if (nodes[i].task) note(order, accesses[i], nodes[i].mode);
    task.priority.store(base + cost, std::memory_order_relaxed);
    if (next_ >= next_sweep_) sweep();
}

void BottomLevels::sweep()
{
    for (std::uint64_t order = next_; order-- > oldest_;) {
        Record& mine = record(order);
        if (!unfinished(order)) continue;
        mine.task->priority.store(mine.base + mine.level, std::memory_order_relaxed);
        for (const std::uint64_t before : mine.before) {
            if (before < oldest_) continue;
            Record& predecessor = record(before);
            predecessor.level = std::max(predecessor.level, predecessor.cost + mine.level);
        }
    }
    next_sweep_ = next_ + std::clamp<std::uint64_t>((next_ - oldest_) / 4, 16, most_ > usual ? most_ : 256);
    if (histories_.size() > 4 * most_)
        std::erase_if(histories_, [this](const auto& entry) {
            const auto& newest = entry.second.newest;
            return std::none_of(newest.begin(), newest.end(), [this](std::uint64_t order) { return unfinished(order); });
        });
}

} // namespace trencadis
