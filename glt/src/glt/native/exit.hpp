#pragma once
#include "glt/native/unit.hpp"

namespace trencadis::ult {

/// Ends the calling ULT here: unwinds its frames as pthread_exit does (destructors run; catch (...) must rethrow).
[[noreturn]] void exit_unit(Unit& self);

/// After the function of a unit, on its stack or its worker's: destructors of keys, counter, joiner.
void finish(Unit* unit);

/// A message that names the unit, and std::terminate.
[[noreturn]] void die_of_exception(const Unit& unit, const char* what);

} // namespace trencadis::ult
