#pragma once
#include <vector>

namespace trencadis {

/// The processors that this process may use, by the rule of discover_machine, in order; none: not known.
std::vector<int> usable_processors();

} // namespace trencadis
