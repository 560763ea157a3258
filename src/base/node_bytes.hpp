#pragma once
#include "base/types.hpp"

#include <cstddef>

namespace trencadis {

inline constexpr std::size_t page_bytes = 4096; ///< the unit in which memory is placed

/// What the workers of one memory node read and wrote, by where it lies: in their own node's memory or in another's.
struct NodeBytes {
    int node = 0; ///< index into Machine::nodes
    Bytes local_read = 0, remote_read = 0;
    Bytes local_written = 0, remote_written = 0;
};

} // namespace trencadis
