#include "observe/energy/files.hpp"
#include "observe/energy/meters.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// The perf PMU "power": events energy-pkg, energy-cores, energy-gpu, energy-ram, energy-psys, one counter per package.

namespace trencadis {

namespace {

class SystemPerf final : public PerfCounters {
public:
    int open(unsigned type, std::uint64_t config, int cpu) override
    {
        perf_event_attr wanted{};
        wanted.type = type;
        wanted.size = sizeof wanted;
        wanted.config = config;
        const long descriptor = syscall(SYS_perf_event_open, &wanted, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        return descriptor < 0 ? -errno : int(descriptor);
    }
    std::optional<std::uint64_t> read(int descriptor) override
    {
        std::uint64_t count = 0;
        return ::read(descriptor, &count, sizeof count) == ssize_t(sizeof count) ? std::optional(count) : std::nullopt;
    }
    void close(int descriptor) override { ::close(descriptor); }
};

class PerfMeter final : public Meter {
public:
    PerfMeter(PerfCounters& counters, int descriptor, double unit) : counters_(counters), descriptor_(descriptor), unit_(unit) {}
    PerfMeter(const PerfMeter&) = delete;
    PerfMeter& operator=(const PerfMeter&) = delete;
    ~PerfMeter() override { counters_.close(descriptor_); }
    std::optional<double> read() override
    {
        const auto count = counters_.read(descriptor_);
        return count ? std::optional(double(*count) * unit_) : std::nullopt;
    }

private:
    PerfCounters& counters_;
    int descriptor_;
    double unit_;
};

/// "event=0x02" -> 2.
std::optional<std::uint64_t> config_of(const std::string& text)
{
    const std::string begin = "event=0x";
    std::uint64_t config = 0;
    if (text.rfind(begin, 0) != 0) return {};
    const auto [end, wrong] = std::from_chars(text.data() + begin.size(), text.data() + text.size(), config, 16);
    return wrong == std::errc{} && end == text.data() + text.size() ? std::optional(config) : std::nullopt;
}

/// "0,6" or "0-1" -> the numbers.
std::vector<int> numbers_of(const std::string& text)
{
    std::vector<int> numbers;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        int first = 0;
        auto next = std::from_chars(at, end, first);
        if (next.ec != std::errc{}) break;
        int last = first;
        if (next.ptr < end && *next.ptr == '-') next = std::from_chars(next.ptr + 1, end, last);
        if (next.ec != std::errc{} || last - first > 4096) break;
        for (int number = first; number <= last; ++number) numbers.push_back(number);
        at = next.ptr + 1;
    }
    return numbers;
}

constexpr std::array<std::pair<const char*, const char*>, 5> events{{{"energy-pkg", "package"},
                                                                     {"energy-cores", "core"},
                                                                     {"energy-gpu", "uncore"},
                                                                     {"energy-ram", "dram"},
                                                                     {"energy-psys", "psys"}}};

} // namespace

PerfCounters& perf_counters()
{
    static SystemPerf system;
    return system;
}

namespace meters {

namespace {

struct Pmu {
    PerfCounters& counters;
    unsigned type;
    std::vector<int> cpus;
};

void add_event(const Pmu& pmu, const std::filesystem::path& event, const std::string& domain, FoundMeters& found)
{
    const std::string name = event.filename().string();
    const auto config = config_of(word_in(event).value_or(""));
    const auto unit = number_in(event.string() + ".scale");
    if (!config || !unit || word_in(event.string() + ".unit") != "Joules") {
        found.missing.push_back({"perf", name, event.string() + ": says no event, or no unit in joules", domain});
        return;
    }
    for (std::size_t package = 0; package < pmu.cpus.size(); ++package) {
        const int descriptor = pmu.counters.open(pmu.type, *config, pmu.cpus[package]);
        if (descriptor < 0) {
            found.missing.push_back({"perf", name, why_unread(-descriptor), domain});
            return;
        }
        auto meter = std::make_unique<PerfMeter>(pmu.counters, descriptor, *unit);
        meter->source = "perf";
        meter->domain = domain;
        meter->name = fmt::format("{}-{}", domain, package);
        meter->where = event.string();
        found.meters.push_back(std::move(meter));
    }
}

} // namespace

void find_perf(const MeterPlaces& places, FoundMeters& found)
{
    const std::filesystem::path folder = places.root / "sys/bus/event_source/devices/power";
    const auto type = number_in(folder / "type");
    if (!type) return;
    const Pmu pmu{places.perf ? *places.perf : perf_counters(), unsigned(*type),
                  numbers_of(word_in(folder / "cpumask").value_or("0"))};
    for (const auto& [event, domain] : events) {
        std::error_code none;
        if (std::filesystem::exists(folder / "events" / event, none)) add_event(pmu, folder / "events" / event, domain, found);
    }
}

} // namespace meters

} // namespace trencadis
