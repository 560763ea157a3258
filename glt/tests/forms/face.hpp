#pragma once
#include <trencadis/glt.hpp>

/// A unit that throws what it is told; it is in the other source.
glt::Ult thrower(const char* text);
