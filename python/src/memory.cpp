#include "memory.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace trencadis::python {
namespace {

constexpr Bytes no_limit = std::numeric_limits<Bytes>::infinity();
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr Bytes looked_at_from = 64.0 * (1 << 20);

Bytes read_number(const std::string& path)
{
    std::ifstream file(path);
    Bytes value = 0;
    return file >> value ? value : no_limit; // "max" means no limit, too
}

Bytes meminfo_available()
{
    std::ifstream file("/proc/meminfo");
    std::string word;
    Bytes kib = 0;
    while (file >> word)
        if (word == "MemAvailable:" && file >> kib) return kib * 1024;
    return no_limit;
}

/// What the group in `folder` leaves. Page cache counts as used there but is given back under pressure.
Bytes left_in(const std::string& folder, const char* limit, const char* used)
{
    const Bytes most = read_number(folder + limit);
    const Bytes now = read_number(folder + used);
    if (most == no_limit || now == no_limit) return no_limit;
    std::ifstream stat(folder + "/memory.stat");
    std::string word;
    Bytes value = 0, cache = 0;
    while (stat >> word >> value)
        if (word == "inactive_file" || word == "total_inactive_file") cache = value;
    return std::max(0.0, most - now + cache);
}

Bytes control_group_left()
{
    Bytes left = no_limit;
    std::ifstream file("/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        const auto path = line.rfind(':') + 1;
        const bool unified = line.rfind("0::", 0) == 0;
        if (!unified && line.find(":memory:") == std::string::npos) continue;
        const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        // Every ancestor's limit holds, too; inside a container the path may not exist, but the root is ours.
        for (std::string group = line.substr(path);; group.resize(group.rfind('/'))) {
            if (unified) left = std::min(left, left_in(root + group, "/memory.max", "/memory.current"));
            else left = std::min(left, left_in(root + group, "/memory.limit_in_bytes", "/memory.usage_in_bytes"));
            if (group.empty() || group.find('/') == std::string::npos) break;
        }
    }
    return left;
}

} // namespace

Bytes available_memory() { return std::min(meminfo_available(), control_group_left()); }

void require_memory(Bytes bytes, const char* what)
{
    if (bytes < looked_at_from) return;
    const Bytes available = available_memory();
    if (bytes <= available) return;
    char text[160];
    std::snprintf(text, sizeof text, "%s needs %.1f GB of memory; %.1f GB are available", what, bytes / 1e9, available / 1e9);
    throw Error(ErrorCode::out_of_memory, text);
}

Scratch::Scratch(std::size_t bytes, const char* what)
{
    require_memory(static_cast<Bytes>(bytes), what);
    const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : 64;
    const std::size_t size = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    data_ = std::aligned_alloc(alignment, size);
    if (!data_)
        throw Error(ErrorCode::out_of_memory,
                    std::string(what) + " needs " + std::to_string(bytes) + " bytes of memory; the system refused");
    if (alignment == huge_page) madvise(data_, size, MADV_HUGEPAGE);
}

Scratch& Scratch::operator=(Scratch&& other) noexcept
{
    std::swap(data_, other.data_);
    return *this;
}

Scratch::~Scratch() { std::free(data_); }

} // namespace trencadis::python
