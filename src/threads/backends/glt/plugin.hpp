#pragma once
#include "threads/threads.hpp"
#include "trencadis/glt/table.h"

#include <memory>
#include <string>

namespace trencadis {

/// Why libglt_<name>.so cannot be used; empty when it is there. Loads it to find out.
std::string why_no_glt_plugin(const char* name);
/// Its functions. Throws Error{missing_backend}.
const glt_table& load_glt_plugin(const char* name);

/// Seats on the threads of a back end of GLT; its library is process-wide and runs from the first one on.
std::unique_ptr<Threads> make_glt_threads(const glt_table& table);

} // namespace trencadis
