#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trencadis::meters {

/// What a file of the kernel says, without its line feed; nothing where it cannot be read, and `error` the number then.
std::optional<std::string> word_in(const std::filesystem::path& path, int* error = nullptr);
/// The same as a number.
std::optional<double> number_in(const std::filesystem::path& path, int* error = nullptr);
/// What is in a folder, by name; nothing where it is none.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);
/// "no permission to read it (root may)", or what the system says.
std::string why_unread(int error);

} // namespace trencadis::meters
