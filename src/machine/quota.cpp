#include "machine/quota.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

namespace trencadis {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file)
{
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

std::optional<double> number(std::string_view text)
{
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
    return value;
}

/// Microseconds in every so many; a quota that is negative or a word is none.
std::optional<double> share(std::string_view quota, std::string_view period)
{
    const auto given = number(quota), of = number(period);
    if (!given || !of || *given <= 0 || *of <= 0) return {};
    return *given / *of;
}

/// "150000 100000", "max 100000".
std::optional<double> unified_share(const fs::path& group)
{
    const std::string line = first_line(group / "cpu.max");
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) return {};
    return share(std::string_view(line).substr(0, blank), std::string_view(line).substr(blank + 1));
}
std::optional<double> old_share(const fs::path& group)
{
    return share(first_line(group / "cpu.cfs_quota_us"), first_line(group / "cpu.cfs_period_us"));
}

void lower(std::optional<double>& least, std::optional<double> share)
{
    if (share) least = std::min(least.value_or(*share), *share);
}

/// Of the group and those around it. Inside a container the path may be that of the host, which is not there: its own group is
/// then at the mount point.
void look_upwards(const fs::path& mounted, std::string group, std::optional<double> (*share_of)(const fs::path&),
                  std::optional<double>& least)
{
    for (;; group.resize(group.rfind('/'))) {
        lower(least, share_of(mounted / fs::path(group).relative_path()));
        if (group.find('/') == std::string::npos || group == "/") break;
    }
    lower(least, share_of(mounted));
}

/// Is one of the comma-separated words that?
bool lists(std::string_view words, std::string_view word)
{
    while (!words.empty()) {
        const std::string_view one = words.substr(0, words.find(','));
        if (one == word) return true;
        words.remove_prefix(std::min(words.size(), one.size() + 1));
    }
    return false;
}

} // namespace

std::optional<double> quota_of_cores(const fs::path& root)
{
    std::optional<double> least;
    const fs::path mounts = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    // number:controllers:path
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        const std::string group = line.substr(second + 1);
        if (controllers.empty()) {
            look_upwards(mounts, group, unified_share, least);
            look_upwards(mounts / "unified", group, unified_share, least); // beside groups of version 1
        } else if (lists(controllers, "cpu")) {
            look_upwards(mounts / "cpu", group, old_share, least);
            look_upwards(mounts / "cpu,cpuacct", group, old_share, least);
        }
    }
    return least;
}

int workers_within(std::optional<double> quota, int cores)
{
    if (!quota) return cores;
    constexpr double a_trifle = 0.05; // of a core: no worker for it
    return std::clamp(int(std::ceil(std::min(*quota, double(cores)) - a_trifle)), 1, std::max(cores, 1));
}

} // namespace trencadis
