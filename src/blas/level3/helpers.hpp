#pragma once
#include "base/types.hpp"
#include "graph/team.hpp"

#include <algorithm>
#include <functional>

namespace trencadis::blas {

/// Carries out `work`, which takes all of so many chunks from its team, on several cores; false: nothing was done. Empty: nobody
/// helps.
using Share = std::function<bool(Index chunks, Flops flops, const std::function<void(Team&)>& work)>;

/// What a core, which does so many flops in a nanosecond, computes while it gets a byte that is in another one's cache, of whose
/// lines each takes so long: an estimate for one that has four lines under way.
constexpr double flops_for_a_byte(double line_ns, double flops_per_ns) { return flops_per_ns * line_ns / (4 * 64); }

/// From so long for a line on cores are far from each other: what one has packed comes from its cache line by line, and
/// each rather packs for itself.
inline constexpr double far_line_ns = 32;

/// Of long columns the more lines are under way, the longer each takes: a byte takes no longer than with lines of so long.
inline constexpr double column_line_ns = 50;

/// Who may help the thread that makes a factorization: it forks and joins at those of its updates that are worth it.
struct Helpers {
    int cores = 1; ///< with the calling thread's
    Share share = {};
    double flops_for_a_byte = blas::flops_for_a_byte(15, 63); ///< of cores that share a cache
    double flops_for_a_column_byte = flops_for_a_byte;        ///< in long columns
};

/// An update of n columns (or rows) of a matrix: the flops of all of them, the bytes that every slice reads, and those of all
/// columns.
struct Update {
    Index n;
    Flops flops;
    Bytes common, columns;
    bool has_late = false; ///< may somebody come late even to a short one, so that there should be two slices for each?
};

/// Do others save more of it than it takes them to get what they need out of the cache of the core that wrote it last, and that
/// one what they have written?
inline bool is_worth_sharing(const Helpers& helpers, const Update& update)
{
    constexpr Flops least = 3e5; // less is over before another core has begun
    const double others = 1 - 1.0 / helpers.cores;
    const Bytes moved = update.common + update.columns;
    return helpers.share && update.flops >= least && others * update.flops > helpers.flops_for_a_byte * moved;
}

/// Slices of `size` columns; fewer than `least` that are left belong to the last one.
struct Slicing {
    Index size, least;
};

/// Calls compute(first, count) for all columns: in slices, by whoever takes part, or for all at once. A column must get the same
/// bits whichever slice it is in.
template <class Compute> void in_slices(const Helpers& helpers, const Update& update, const Slicing& cut, const Compute& compute)
{
    const Index n = update.n;
    if (n <= 0) return;
    const Index slices = n % cut.size >= cut.least ? n / cut.size + 1 : n / cut.size;
    if (slices > 1 && is_worth_sharing(helpers, update)) {
        const auto work = [&](Team& team) {
            while (const Chunks some = team.next_of_two_ends(1)) {
                const Index first = some.begin * cut.size;
                compute(first, (some.end == slices ? n : some.end * cut.size) - first);
            }
        };
        if (helpers.share(slices, update.flops, std::cref(work))) return;
    }
    compute(0, n);
}

/// The same in one slice for each core, or two; none is narrower than eight columns, but where all of them are: solutions and
/// sums of one or two columns are found otherwise.
template <class Compute> void in_slices(const Helpers& helpers, const Update& update, const Compute& compute)
{
    constexpr Index unit = 8;
    constexpr Flops patient = 3e6; // two slices for each, so that one that comes late does less
    const Index wanted = update.flops < patient && !update.has_late ? helpers.cores : 2 * helpers.cores;
    in_slices(helpers, update, {std::max(unit, (update.n + wanted * unit - 1) / (wanted * unit) * unit), unit}, compute);
}

} // namespace trencadis::blas
