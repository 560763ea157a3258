#pragma once
#include "observe/trace.hpp"

#include <functional>
#include <vector>

namespace trencadis {

/// What is drawn of one worker: one event that is wide enough to be seen, or a cluster of neighbours that are not.
struct Strip {
    std::int64_t begin_ns;
    std::int64_t end_ns;
    const Event* event; ///< the one event; none for a cluster
    /// A cluster has the time of each colour in it, by number; what they leave of the length is idle or runtime. One event has
    /// its colour and length.
    struct Part {
        int colour;
        std::int64_t ns;
    };
    std::vector<Part> parts;
};

/// One worker's tasks and shares as strips, by begin time, not overlapping: events shorter than `resolution_ns` are gathered with
/// their neighbours until they are that long together, so that there are at most about 4 strips per `resolution_ns` while
/// the area of each colour stays what it was. `colour` numbers an event's colour. Idle events are left out.
std::vector<Strip> strips(const WorkerTrace& worker, std::int64_t resolution_ns, const std::function<int(const Event&)>& colour);

} // namespace trencadis
