#pragma once
#include "scheduling/parts/ability.hpp"
#include "scheduling/parts/ranked_tasks.hpp"

#include <cstdint>
#include <vector>

namespace trencadis {

enum class ReadyOrder {
    oldest,  ///< first in, first out
    newest,  ///< last in, first out
    highest, ///< by the priority at the time of the push, among equals the oldest
};

/// Ready tasks in one place. In every order tasks inside tasks come first, for the reasons that RankedTasks gives.
///
/// Tasks that only some kinds of units can run lie in a lane per set of kinds, so that nobody scans. O(lanes + log ready) per
/// call, O(lanes) where all ranks are equal; one lane where every task can run everywhere.
class ReadyQueue {
public:
    explicit ReadyQueue(ReadyOrder order = ReadyOrder::highest) : order_(order) {}

    void push(Task& task, KindSet able, Seconds cost = 0);
    Task* pop(KindSet kind); ///< the first that this kind can run; null when there is none
    /// What pop would return.
    const Task* first(KindSet kind) const;
    Seconds cost_before(Task& task) const; ///< of those that would be given out before this one, were it pushed now
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

private:
    struct Lane {
        KindSet able;
        RankedTasks tasks;
    };
    Lane& lane(KindSet able);
    RankedTasks::Ready rank_of(Task& task, Seconds cost) const;
    int best_lane(KindSet kind) const;

    const ReadyOrder order_;
    std::vector<Lane> lanes_;
    std::uint64_t pushed_ = 0;
    std::size_t size_ = 0;
};

} // namespace trencadis
