#pragma once
#include <trencadis/glt.hpp>

/// In the other source: a unit that throws what it is told.
glt::Ult thrower(const char* text);
