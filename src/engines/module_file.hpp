#pragma once
#include <string>

namespace trencadis {

/// A part of the library that is loaded when it is first needed, because of what it brings with it: the file of that name beside
/// the library or program that this code is in, or in the folder `lib` beside that one's. Empty when there is none.
std::string find_module(const char* name);

} // namespace trencadis
