#include "memory/transfer_queues.hpp"

#include <algorithm>
#include <utility>

namespace trencadis {

TransferQueues::Queue TransferQueues::add(Transfer transfer)
{
    const bool in = transfer.to >= devices_ || transfer.from < devices_;
    const Queue queue = in ? transfer.to : replicas_.spaces() + transfer.from;
    queues_[std::size_t(queue)].push_back(std::move(transfer));
    return queue;
}

std::optional<Transfer> TransferQueues::begin(Queue queue)
{
    std::deque<Transfer>& waiting = queues_[std::size_t(queue)];
    const auto next = std::find_if(waiting.begin(), waiting.end(), [this](const Transfer& transfer) { return may_go(transfer); });
    if (next == waiting.end()) return std::nullopt;
    return take(waiting, next);
}

std::optional<Transfer> TransferQueues::begin_early(Queue queue)
{
    std::deque<Transfer>& waiting = queues_[std::size_t(queue)];
    if (waiting.empty() || !may_go(waiting.front())) return std::nullopt;
    return take(waiting, waiting.begin());
}

Transfer TransferQueues::take(std::deque<Transfer>& waiting, std::deque<Transfer>::iterator which)
{
    Transfer transfer = std::move(*which);
    waiting.erase(which);
    engage_ends(transfer, true);
    return transfer;
}

bool TransferQueues::complete(const std::vector<TransferId>& transfers) const
{
    return std::none_of(transfers.begin(), transfers.end(), [this](TransferId id) { return replicas_.under_way(id); });
}

} // namespace trencadis
