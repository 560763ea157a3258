#pragma once
#include "observe/trace.hpp"

#include <string>

namespace trencadis {

enum class SvgView {
    kernel,         ///< a colour per kernel, lighter where a worker joined another's task
    creation_order, ///< light for the tasks created first, dark for the last: how far ahead the workers run
};

/// A Gantt chart of the trace as an SVG document that needs nothing outside it: one row per worker over the time in
/// milliseconds, idle and runtime left as background, flags where the first task begins and the last one ends, a legend. Tasks
/// too short to be seen are drawn together with their neighbours, each kernel with its share of the height, so that areas stay
/// true and the document stays below about 2 MB for any number of events.
std::string to_svg(const Trace& trace, SvgView view);

/// The same as an element for a page of HTML, without the XML declaration.
std::string to_svg_element(const Trace& trace, SvgView view);

} // namespace trencadis
