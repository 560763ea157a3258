#pragma once
#include <string>

namespace trencadis {

/// The folder of the library or program that this code is in; "." where that is not known.
std::string own_folder();

} // namespace trencadis
