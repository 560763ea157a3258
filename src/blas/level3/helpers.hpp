#pragma once
#include "base/types.hpp"
#include "graph/team.hpp"

#include <functional>

namespace trencadis::blas {

/// Who may help the thread that makes a factorization: it forks and joins at those of its updates that are worth it.
struct Helpers {
    int cores = 1; ///< with the calling thread's
    /// Carries out `work`, which takes all of so many chunks from its team, on several cores; false: nothing was done. Empty:
    /// nobody helps.
    std::function<bool(Index chunks, Flops flops, const std::function<void(Team&)>& work)> share = {};
};

/// Calls update(first, count) for columns (or rows) 0 .. n - 1 of a matrix: in slices, by whoever takes part, or for all at
/// once. A column must get the same bits whichever slice it is in; none is narrower than `unit`, but where all of them are:
/// solutions and sums of one or two columns are found otherwise.
template <class Update> void in_slices(const Helpers& helpers, Index n, Flops flops, const Update& update)
{
    if (n <= 0) return;
    constexpr Flops least = 3e5; // less is over before another core has begun
    constexpr Index unit = 8;
    constexpr Flops patient = 3e6; // two slices for each, so that one that comes late does less
    const Index wanted = flops < patient ? helpers.cores : 2 * helpers.cores;
    const Index slice = (n + wanted * unit - 1) / (wanted * unit) * unit;
    const Index slices = n % slice >= unit ? n / slice + 1 : n / slice; // what is less belongs to the last one
    if (helpers.share && flops >= least && slices > 1) {
        const auto work = [&](Team& team) {
            while (const Chunks some = team.next_of_two_ends(1)) {
                const Index first = some.begin * slice;
                update(first, (some.end == slices ? n : some.end * slice) - first);
            }
        };
        if (helpers.share(slices, flops, std::cref(work))) return;
    }
    update(0, n);
}

} // namespace trencadis::blas
