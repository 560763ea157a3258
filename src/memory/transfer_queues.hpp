#pragma once
#include "memory/replicas.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace trencadis {

/// Planned transfers that are to be carried out: one queue into each device and one out of it, as its two copy engines, and one
/// into each other memory. Decides which goes next, moves nothing. A plain object, like Replicas.
class TransferQueues {
public:
    using Queue = int;

    /// The spaces from `devices` on are devices' own. `one_at_a_time`: a device computes, receives or sends, never two of them.
    TransferQueues(const Replicas& replicas, SpaceId devices, bool one_at_a_time)
        : replicas_(replicas), devices_(devices), one_at_a_time_(one_at_a_time), queues_(2 * std::size_t(replicas.spaces())),
          engaged_(std::size_t(replicas.spaces()), false)
    {
    }

    int count() const { return static_cast<int>(queues_.size()); }
    Queue add(Transfer transfer);
    /// The first of the queue that may go: what it comes after is complete, and both its ends are free. They are not until `end`.
    std::optional<Transfer> begin(Queue queue);
    /// The same, while another of the queue is under way: only what is going to be next whatever happens until that one ends, so
    /// that who begins early takes no other order than who waits.
    std::optional<Transfer> begin_early(Queue queue);
    /// Those that wait and are such, out of the queues.
    template <class Such> std::vector<Transfer> take_waiting(Such&& such)
    {
        std::vector<Transfer> taken;
        for (std::deque<Transfer>& queue : queues_)
            for (std::size_t i = 0; i < queue.size();) {
                if (!such(queue[i])) ++i;
                else {
                    taken.push_back(std::move(queue[i]));
                    queue.erase(queue.begin() + std::ptrdiff_t(i));
                }
            }
        return taken;
    }
    void end(const Transfer& transfer) { engage_ends(transfer, false); }

    bool complete(const std::vector<TransferId>& transfers) const;
    /// With one thing at a time: does the device there do anything; it begins to compute, or ends.
    bool engaged(SpaceId space) const { return engaged_[std::size_t(space)]; }
    void engage(SpaceId space, bool on)
    {
        if (one_at_a_time_ && space >= devices_) engaged_[std::size_t(space)] = on;
    }

private:
    Transfer take(std::deque<Transfer>& waiting, std::deque<Transfer>::iterator which);
    bool may_go(const Transfer& transfer) const
    {
        return complete(transfer.after) && !engaged(transfer.from) && !engaged(transfer.to);
    }
    void engage_ends(const Transfer& transfer, bool on)
    {
        for (const SpaceId end : {transfer.from, transfer.to}) engage(end, on);
    }

    const Replicas& replicas_;
    const SpaceId devices_;
    const bool one_at_a_time_;
    std::vector<std::deque<Transfer>> queues_; ///< into each space, then out of each
    std::vector<bool> engaged_;                ///< by space
};

} // namespace trencadis
