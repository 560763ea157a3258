#pragma once
#include "choices/chooser.hpp"
#include "choices/foresight.hpp"

#include <limits>
#include <vector>

/// Choices of a machine that is described: by the same chooser as here, from what is foreseen of each plan where a calibration
/// would have measured it.
namespace trencadis::choices {

/// Do its plans stand for our own kernels? Not those of products, whose packed tiles follow from the caches of the processor at
/// hand: described machines have the cut in place, which follows from the extents alone.
bool is_ours_elsewhere(const Call& call);

/// How a plan is laid out for so many cores.
struct Laid {
    const Form* form; ///< null: the caller computes alone
    Index nb;         ///< 0: as the form cuts it
    int cut_for;      ///< of products without nb
};
Laid laid_elsewhere(const Plan& plan, const Call& call, int workers);

/// What the plan would take there by all those cores; infinite where it cannot be told, or is more than `most` for the submission
/// of its tasks alone. The caller alone is its kernel, which machines tell of square matrices; of others the tasks of the first
/// form, one after the other.
Seconds foreseen_of(const Plan& plan, const Call& call, const DescribedCores& units,
                    Seconds most = std::numeric_limits<Seconds>::infinity());

/// How the call would go by some of the cores, the first ones.
struct ByCores {
    int workers = 0;
    std::vector<Expected> considered; ///< the chosen one first
    bool chosen = false;
};
/// All of them, half of them, and so on, as long as half as many are not much worse; the chosen number first.
/// Cores of one more memory node are taken where that is expected to gain what makes a plan worth taking: what links will carry
/// is less certain than what cores do.
std::vector<ByCores> consider_elsewhere(const Call& call, const DescribedCores& units);

} // namespace trencadis::choices
