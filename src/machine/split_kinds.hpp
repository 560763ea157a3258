#pragma once
#include "machine/machine.hpp"

namespace trencadis {

/// Splits kinds whose cores were measured at clearly different speeds, and sets every kind's peak to its fastest core. Cores of
/// one kind differ by 10 to 15 % at most (preferred cores, turbo bins), different kinds by 1.4 and more (P and E cores, A15 and
/// A7): a gap of 1.25 between neighbours in order of speed tells two kinds apart. Cores without a measurement stay where they
/// are.
void split_kinds(Machine& machine);

} // namespace trencadis
