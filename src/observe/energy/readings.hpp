#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trencadis {

/// What a meter tells.
enum class MeterKind : std::uint8_t {
    energy,      ///< joules since some moment, as a count that only grows
    power,       ///< watts now
    temperature, ///< degrees Celsius now
};

struct Reading {
    std::int64_t time_ns; ///< CLOCK_MONOTONIC
    double value;         ///< joules since the first reading, watts or degrees
};

/// What one meter told over a time. Readings may be missing in between.
struct MeterSeries {
    std::string source; ///< powercap, perf, amd_energy, hwmon, battery, nvml
    std::string domain; ///< psys, package, core, uncore, dram, machine, battery, device, sensor
    std::string name;   ///< of this meter among those of its domain, as package-0
    MeterKind kind = MeterKind::energy;
    std::vector<Reading> readings; ///< by time
    std::string lost;              ///< why it stopped telling; empty: it did not
};

/// Joules that a counter shows, from its words: it begins anew at 0 after `range`, at most once between two readings.
class Unwrapped {
public:
    /// `range`: what the counter shows at most, plus one step; 0: it does not begin anew.
    explicit Unwrapped(double range = 0) : range_(range) {}
    /// Since the first word. A word below the last one is a new beginning; of a counter that has none, nothing: it was set back.
    std::optional<double> operator()(double word);

private:
    double range_;
    std::optional<double> last_;
    double sum_ = 0;
};

/// Energy of one meter from `begin` to `end`, by linear interpolation of a counter, by the trapezoidal rule of power. Nothing
/// where the readings do not reach that far to both sides, where the meter was lost, or where it stood still: all the time, or,
/// as one that is renewed seldom may, from the last reading before `begin` to the first behind `end`.
std::optional<double> joules_between(const MeterSeries& series, std::int64_t begin, std::int64_t end);

/// Of a domain: the sum over its meters, which are of different packages, devices or sensors, and but for devices of one source.
struct DomainEnergy {
    std::string domain, source;
    std::optional<double> joules;    ///< nothing: unavailable
    std::string why;                 ///< where it is
    std::vector<std::string> inside; ///< domains that count this one's energy as well: never to be added to it
};

/// Of each domain that has a meter. A domain is unavailable where one of its meters is.
std::vector<DomainEnergy> energy_between(std::span<const MeterSeries> all, std::int64_t begin, std::int64_t end);

/// The domains that hold this one: the machine holds all, psys the package, the package its cores.
std::vector<std::string> domains_around(const std::string& domain);

} // namespace trencadis
