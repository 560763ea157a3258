#pragma once
#include "observe/trace.hpp"

#include <vector>

namespace trencadis {

/// Puts one worker's events into the order and form that Trace promises: by begin time, not overlapping. A task during which
/// the worker ran others (it waited for tasks inside it) is cut into pieces around them; the pieces after the
/// first are marked `continued` and carry no flops. Where two merely cross, the one that began later keeps its
/// whole length. O(n log n), O(n) when already in order.
void flatten(std::vector<Event>& events);

} // namespace trencadis
