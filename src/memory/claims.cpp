#include "memory/claims.hpp"

#include <iterator>
#include <utility>

namespace trencadis {

void Claims::acquire(Replicas& replicas, SpaceId space, std::vector<Transfer>& transfers, std::vector<ReleasedBlock>& released)
{
    for (Claim& claim : claims_) {
        if (claim.acquired || claim.impossible) continue;
        Plan plan;
        try {
            plan = replicas.acquire(data_of(*claim.task, data_), space);
        } catch (...) { // a datum that is named in two ways
            claim.failure = std::current_exception();
            plan.verdict = Verdict::never;
        }
        if (plan.verdict == Verdict::later) return;
        claim.impossible = plan.verdict == Verdict::never;
        claim.acquired = !claim.impossible;
        claim.wait_for = std::move(plan.wait_for);
        for (Transfer& transfer : plan.transfers) transfer.asked_by = order_of(*claim.task);
        transfers.insert(transfers.end(), std::make_move_iterator(plan.transfers.begin()),
                         std::make_move_iterator(plan.transfers.end()));
        released.insert(released.end(), plan.released.begin(), plan.released.end());
    }
}

} // namespace trencadis
