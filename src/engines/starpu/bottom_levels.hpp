#pragma once
#include "engines/own/own_flow.hpp"

#include <memory>
#include <span>
#include <vector>

namespace trencadis {

/// Of tasks that were submitted one after the other: to each the seconds from its beginning to the end of the longest chain of
/// tasks among them that begins with it, at so many flops per second. From the last to the first, since a task's successors come
/// later: of each datum it is enough to know the next writer and the readers before it. Literature: HEFT's upward rank (Topcuoglu
/// et al. 2002).
std::vector<double> bottom_levels(std::span<const std::unique_ptr<OwnTask>> tasks, double flops_per_second);

} // namespace trencadis
