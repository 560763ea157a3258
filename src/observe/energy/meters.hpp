#pragma once
#include "observe/energy/readings.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

/// A meter of the machine. One thread reads it at a time.
class Meter {
public:
    virtual ~Meter() = default;
    /// Joules since some moment, watts or degrees; nothing: it could not be read this time.
    virtual std::optional<double> read() = 0;

    std::string source, domain, name, where;
    std::string device; ///< of domain "device": its address on the bus, as 0000:01:00.0; empty: not known
    MeterKind kind = MeterKind::energy;
    double range = 0; ///< joules after which a counter begins anew; 0: it does not
};

/// A meter that is there, or was looked for, and cannot be had.
struct MissingMeter {
    std::string source, name, why;
    std::string domain = {}; ///< that is not whole without it; empty: another meter counts the same
};

struct FoundMeters {
    std::vector<std::unique_ptr<Meter>> meters;
    std::vector<MissingMeter> missing;
};

/// The counters of a perf PMU, apart from the files that describe it: for tests.
class PerfCounters {
public:
    virtual ~PerfCounters() = default;
    /// A descriptor; below 0 the negative error number.
    virtual int open(unsigned type, std::uint64_t config, int cpu) = 0;
    virtual std::optional<std::uint64_t> read(int descriptor) = 0;
    virtual void close(int descriptor) = 0;
};
PerfCounters& perf_counters();

/// Where meters are looked for.
struct MeterPlaces {
    std::filesystem::path root = "/"; ///< of sys
    std::string nvml = "libnvidia-ml.so.1";
    PerfCounters* perf = nullptr; ///< null: the system's
};

/// All that can be read, of each domain those of one source: a package that powercap counts is not counted again by perf, and
/// zones that show one package twice (intel-rapl-mmio) count once. Devices are told apart by their address: those that one source
/// counts are not counted again by another. A domain that a source can read in part only is not read there: a sum without one of
/// the packages is no measurement. Where nothing is found, `missing` says what was looked for.
FoundMeters find_meters(const MeterPlaces& places = {});

/// Takes away what opens and counts nothing while this thread calculates for up to `limit_s`: guests show such counters. They are
/// in `missing` then. Of a domain that moves, one that stands still stays: a package may sleep; a run says whether it counts.
/// Temperatures and meters of power that show some stay.
void keep_those_that_move(FoundMeters& found, double limit_s = 0.3);

namespace meters {
// One per source; each appends what it finds.
void find_powercap(const MeterPlaces& places, FoundMeters& found);
void find_perf(const MeterPlaces& places, FoundMeters& found);
void find_hwmon(const MeterPlaces& places, FoundMeters& found);
void find_nvml(const MeterPlaces& places, FoundMeters& found);
void find_battery(const MeterPlaces& places, FoundMeters& found);
} // namespace meters

} // namespace trencadis
