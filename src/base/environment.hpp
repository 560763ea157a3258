#pragma once
#include <cstdlib>

namespace trencadis {

/// The value of an environment variable, null where there is none, and in a program that runs with rights which its caller has
/// not (set-user-ID): as a system's BLAS we are in those, too, and our variables name libraries to load and files to read and
/// write.
inline const char* environment(const char* name) { return secure_getenv(name); }

} // namespace trencadis
