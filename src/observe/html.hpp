#pragma once
#include "observe/trace.hpp"

#include <string>

namespace trencadis {

/// One page with everything about a trace: both charts, the table of workers and the table of kernels. Nothing outside the page
/// is referenced.
std::string to_html(const Trace& trace);

} // namespace trencadis
