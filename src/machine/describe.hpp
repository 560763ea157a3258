#pragma once
#include "machine/machine.hpp"

#include <string>
#include <string_view>

namespace trencadis {

/// The machine that a TOML text describes; `file` is its name in messages and becomes Machine::origin. Unknown keys, wrong types,
/// negative figures and references to nothing throw Error{bad_argument} with "file:line: what; what would be right".
Machine parse_machine(std::string_view text, const std::string& file);
/// The machine that a file describes; throws Error{bad_argument} when it cannot be read.
Machine read_machine_file(const std::string& file);

} // namespace trencadis
