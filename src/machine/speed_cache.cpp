#include "machine/speed_cache.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>

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
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/') return std::filesystem::path(cache) / "trencadis";
    if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".cache" / "trencadis";
    return std::nullopt;
}

} // namespace

std::optional<std::filesystem::path> speed_cache_path(std::string_view host, std::string_view identity)
{
    const auto folder = cache_folder();
    if (!folder) return std::nullopt;
    std::string name(host);
    for (char& c : name)
        if (c == '/') c = '_';
    return *folder / fmt::format("{}-{:016x}.json", name, hash(identity));
}

CoreSpeeds read_speeds(const std::filesystem::path& file)
{
    std::ifstream stream(file);
    const auto json = nlohmann::json::parse(stream, nullptr, false);
    if (!json.is_object() || !json.contains("gflops") || !json["gflops"].is_object()) return {};
    CoreSpeeds speeds;
    for (const auto& [cpu, value] : json["gflops"].items()) {
        char* end = nullptr;
        const long number = std::strtol(cpu.c_str(), &end, 10);
        if (cpu.empty() || *end || !value.is_number()) return {};
        const double gflops = value.get<double>();
        if (!std::isfinite(gflops) || gflops <= 0) return {};
        speeds[static_cast<int>(number)] = gflops;
    }
    return speeds;
}

bool write_speeds(const std::filesystem::path& file, const CoreSpeeds& speeds)
{
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const std::filesystem::path draft = file.string() + fmt::format(".{}", getpid());
    nlohmann::json json;
    json["gflops"] = nlohmann::json::object();
    for (const auto& [cpu, gflops] : speeds) json["gflops"][std::to_string(cpu)] = gflops;
    std::ofstream stream(draft);
    stream << json.dump(2) << '\n';
    stream.close();
    if (stream) std::filesystem::rename(draft, file, error);
    if (stream && !error) return true;
    std::filesystem::remove(draft, error);
    return false;
}

} // namespace trencadis
