#pragma once
#include <string>
#include <string_view>

namespace trencadis {

/// Text for XML and HTML, between tags or inside a quoted attribute. Bytes that no XML document may hold (control
/// characters, broken UTF-8) become U+FFFD.
std::string escape_markup(std::string_view text);

} // namespace trencadis
