#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace trencadis {

/// Measured double precision gflops by OS number of the core.
using CoreSpeeds = std::map<int, double>;

/// Where the speeds of this host are kept, ${XDG_CACHE_HOME:-~/.cache}/trencadis/<host>-<hash>.speeds, one line "core gflops" per
/// core; nothing when neither variable is set. `identity` is what makes old figures worthless when it changes: model, instruction
/// set, method.
std::optional<std::filesystem::path> speed_cache_path(std::string_view host, std::string_view identity);
/// A file of that name beside them, '/' in it replaced.
std::optional<std::filesystem::path> cache_file(std::string name);
/// What is there; empty when there is none, or when it is damaged or holds figures that cannot be speeds.
CoreSpeeds read_speeds(const std::filesystem::path& file);
/// Replaces the file as a whole, so that a reader in another process sees the old one or the new one. Returns false when it
/// cannot be written: the figures are then measured again next time, and nothing else is lost.
bool write_speeds(const std::filesystem::path& file, const CoreSpeeds& speeds);

} // namespace trencadis
