#include "machine/kernel_speeds.hpp"

#include "base/replaced_file.hpp"
#include "machine/speed_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace trencadis {
namespace {

/// Changes with the format and with what the figures mean.
constexpr std::string_view first_line = "trencadis kernel speeds, version 1";

/// Of the first processor: enough to tell a new host under an old name. All of /proc/cpuinfo takes milliseconds on large hosts.
std::string processor_model()
{
    std::ifstream stream("/proc/cpuinfo");
    std::string text;
    for (std::string line; std::getline(stream, line) && !line.empty();)
        for (const char* key : {"model name", "cpu family", "stepping", "CPU implementer", "CPU part", "cpu\t", "uarch"})
            if (line.starts_with(key)) text += line + '\n';
    return text;
}

/// "codelet precision size rate unit", the unit last because it may have blanks. False: it is none.
bool read_row(const std::string& line, KernelSpeeds& into)
{
    std::istringstream words(line);
    KernelKey key;
    std::string precision;
    KernelSpeed speed{};
    if (!(words >> key.codelet >> precision >> speed.size >> speed.rate) || precision.size() != 1) return false;
    std::getline(words >> std::ws, key.unit);
    const bool sound = std::isfinite(speed.size) && speed.size >= 0 && speed.size < 2.0 * KernelSpeeds::buckets &&
                       std::isfinite(speed.rate) && speed.rate > 0 && !key.unit.empty();
    if (!sound) return false;
    key.precision = precision == "-" ? char(0) : precision.front();
    into.set(key, speed);
    return true;
}

} // namespace

double size_of(Flops flops)
{
    if (!(flops >= 1)) return 0;
    return static_cast<double>(std::bit_cast<std::int64_t>(flops)) * 0x1p-52 - 1023;
}

Flops flops_of(double size) { return std::bit_cast<double>(static_cast<std::int64_t>((size + 1023) * 0x1p52)); }

int KernelSpeeds::bucket(double size) { return std::clamp(static_cast<int>(size * 0.5), 0, buckets - 1); }

void KernelSpeeds::merge(const KernelSpeeds& newer)
{
    for (const auto& [key, speeds] : newer.rows_)
        for (const auto& [bucket, speed] : speeds) rows_[key].insert_or_assign(bucket, speed);
}

const std::map<int, KernelSpeed>* KernelSpeeds::find(const KernelKey& key) const
{
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : &found->second;
}

KernelSpeeds KernelSpeeds::read(const std::filesystem::path& file)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return {}; // to open a pipe waits for who writes to it
    std::ifstream stream(file);
    KernelSpeeds speeds;
    std::string line;
    if (!std::getline(stream, line) || line != first_line) return {};
    std::size_t rows = 0;
    for (; std::getline(stream, line) && !line.starts_with("end "); ++rows)
        if (!read_row(line, speeds)) return {};
    return line == fmt::format("end {}", rows) ? speeds : KernelSpeeds{};
}

bool KernelSpeeds::write(const std::filesystem::path& file) const
{
    std::string text = std::string(first_line) + '\n';
    std::size_t rows = 0;
    for (const auto& [key, speeds] : rows_)
        for (const auto& [bucket, speed] : speeds) {
            text += fmt::format("{} {} {:.4f} {:.6e} {}\n", key.codelet, key.precision ? key.precision : '-', speed.size,
                                speed.rate, key.unit);
            ++rows;
        }
    return replace_file(file, text + fmt::format("end {}\n", rows)) == 0;
}

std::string processor_identity()
{
    std::string text;
    for (const char c : processor_model()) {
        const char kept = c == '\t' || c == '\n' ? ' ' : c;
        if (kept != ' ' || (!text.empty() && text.back() != ' ')) text += kept;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

std::optional<std::filesystem::path> kernel_speeds_path(std::string_view host, std::string_view kernels)
{
    auto path = speed_cache_path(host, fmt::format("{} {}", processor_model(), kernels));
    if (path) path->replace_extension(".kernels");
    return path;
}

} // namespace trencadis
