#pragma once
#include <string_view>

namespace trencadis::devices {

// A number with one of the units behind it, such as 64MiB or 4GB/s. Each throws Error{bad_argument} that names `what`, says what
// was given and shows an example.
double read_size(std::string_view what, std::string_view text);           ///< bytes
double read_bandwidth(std::string_view what, std::string_view text);      ///< bytes per second
double read_time(std::string_view what, std::string_view text);           ///< seconds
double read_speed(std::string_view what, std::string_view text);          ///< flops per second
long read_count(std::string_view what, std::string_view text, long most); ///< a whole number in [1, most]
double read_part(std::string_view what, std::string_view text);           ///< in (0, 1]
bool read_yes(std::string_view what, std::string_view text);              ///< yes or no

} // namespace trencadis::devices
