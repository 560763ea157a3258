#pragma once
#include "base/types.hpp"
#include "observe/trace.hpp"

#include <cstdint>
#include <vector>

namespace trencadis {

/// From a copy to the task that asked for it.
struct Arrow {
    WorkerId from, to;    ///< rows of the trace
    std::int64_t sent_ns; ///< when the copy began
    std::int64_t used_ns; ///< when the task began
    Bytes bytes;
};

/// Of all awaited copies whose task is in the trace, by row and time. O(events log events); nothing where there are no copies.
std::vector<Arrow> arrows_of(const Trace& trace);

} // namespace trencadis
