#include "machine/speed_cache.hpp"

#include "base/environment.hpp"
#include "base/replaced_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace trencadis {

namespace {

/// FNV-1a, 64 bits: the same on every build, unlike std::hash.
std::uint64_t hash(std::string_view text)
{
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
    return h;
}

std::optional<std::filesystem::path> cache_folder()
{
    if (const char* cache = environment("XDG_CACHE_HOME"); cache && *cache == '/')
        return std::filesystem::path(cache) / "trencadis";
    if (const char* home = environment("HOME"); home && *home) return std::filesystem::path(home) / ".cache" / "trencadis";
    return std::nullopt;
}

} // namespace

std::optional<std::filesystem::path> speed_cache_path(std::string_view host, std::string_view identity)
{
    return cache_file(fmt::format("{}-{:016x}.speeds", host, hash(identity)));
}

std::optional<std::filesystem::path> cache_file(std::string name)
{
    const auto folder = cache_folder();
    if (!folder) return std::nullopt;
    std::ranges::replace(name, '/', '_');
    return *folder / name;
}

CoreSpeeds read_speeds(const std::filesystem::path& file)
{
    std::ifstream stream(file);
    CoreSpeeds speeds;
    for (std::string line; std::getline(stream, line);) {
        int cpu = 0;
        double gflops = 0;
        char more = 0;
        if (std::sscanf(line.c_str(), "%d %lf %c", &cpu, &gflops, &more) != 2) return {};
        if (cpu < 0 || !std::isfinite(gflops) || gflops <= 0 || !speeds.emplace(cpu, gflops).second) return {};
    }
    return speeds;
}

bool write_speeds(const std::filesystem::path& file, const CoreSpeeds& speeds)
{
    std::string text;
    for (const auto& [cpu, gflops] : speeds) text += fmt::format("{} {}\n", cpu, gflops);
    return replace_file(file, text) == 0;
}

} // namespace trencadis
