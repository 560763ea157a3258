#pragma once
#include "base/types.hpp"

#include <string>

namespace trencadis {

using SpaceId = int; ///< position in the list of spaces

/// A memory that holds copies of data: a memory node's, or a device's own.
struct Space {
    std::string name;
    Bytes capacity = 0; ///< for copies of data whose home is elsewhere; 0: no limit
    /// Spaces of one domain (0 or more) are one coherent memory, like the memory nodes of a host: what lies in one is read and
    /// written in place from the others, never copied. -1: on its own, like a device's memory.
    int domain = -1;
};

} // namespace trencadis
