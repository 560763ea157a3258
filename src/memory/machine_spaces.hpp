#pragma once
#include "machine/machine.hpp"
#include "memory/space.hpp"

#include <vector>

namespace trencadis {

/// The memories of a machine: its memory nodes, those of one host as one domain without a limit, then its devices. The numbering
/// is that of Routes.
std::vector<Space> spaces_of(const Machine& machine);

} // namespace trencadis
