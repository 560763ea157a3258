#pragma once
#include "base/types.hpp"

#include <vector>

namespace trencadis {

/// Work that can be divided at will among kinds of units.
struct DivisibleWork {
    std::vector<int> units; ///< number of units of each kind
    /// [class][kind]: seconds that all work of the class takes on one unit of the kind; infinite where it cannot run.
    std::vector<std::vector<Seconds>> work;
};

/// The least time in which the units can do all of it, each class divided where that is best:
///     min T  so that  sum over classes of x(c, k) work(c, k) <= units(k) T,  sum over kinds of x(c, k) = 1,  x >= 0.
/// A lower bound of every schedule. Solved as its dual, a linear program, by the simplex method with Bland's rule (1977).
/// Infinite when a class has no kind. Literature: the area bound of Agullo, Beaumont, Eyraud-Dubois, Kumar 2016.
Seconds area_bound(const DivisibleWork& divisible);

} // namespace trencadis
