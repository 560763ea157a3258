#include "scheduling/scheduler.hpp"

namespace trencadis {

WorkerId most_chunks_left(const View& view, WorkerId idle)
{
    WorkerId best = no_worker;
    Index most = 0;
    for (WorkerId worker = 0; worker < view.workers(); ++worker) {
        const Index left = worker == idle ? 0 : view.chunks_left(worker);
        if (left > most) {
            most = left;
            best = worker;
        }
    }
    return best;
}

} // namespace trencadis
