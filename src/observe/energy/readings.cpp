#include "observe/energy/readings.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace trencadis {

std::optional<double> Unwrapped::operator()(double word)
{
    if (last_) {
        double step = word - *last_;
        if (step < 0) {
            if (range_ <= 0) return {};
            step += range_;
        }
        if (step < 0) return {};
        sum_ += step;
    }
    last_ = word;
    return sum_;
}

namespace {

using Readings = std::vector<Reading>;

/// The value at a time within the readings.
double value_at(const Readings& readings, std::int64_t time)
{
    const auto after = std::lower_bound(readings.begin(), readings.end(), time,
                                        [](const Reading& one, std::int64_t t) { return one.time_ns < t; });
    if (after->time_ns == time || after == readings.begin()) return after->value;
    const Reading& before = *std::prev(after);
    const double part = double(time - before.time_ns) / double(after->time_ns - before.time_ns);
    return before.value + part * (after->value - before.value);
}

/// The integral of watts, in joules.
double integral(const Readings& readings, std::int64_t begin, std::int64_t end)
{
    double sum = 0;
    Reading last{begin, value_at(readings, begin)};
    const auto add = [&](const Reading& next) {
        sum += 0.5 * (last.value + next.value) * double(next.time_ns - last.time_ns) * 1e-9;
        last = next;
    };
    for (const Reading& one : readings)
        if (one.time_ns > begin && one.time_ns < end) add(one);
    add({end, value_at(readings, end)});
    return sum;
}

/// From the last reading before this time to the first behind it; the readings reach that far to both sides.
std::span<const Reading> around(const Readings& readings, std::int64_t begin, std::int64_t end)
{
    const auto later = [](std::int64_t t, const Reading& one) { return t < one.time_ns; };
    const auto sooner = [](const Reading& one, std::int64_t t) { return one.time_ns < t; };
    const auto first = std::prev(std::upper_bound(readings.begin(), readings.end(), begin, later));
    const auto last = std::lower_bound(first, readings.end(), end, sooner);
    return {first, std::next(last)};
}

bool stands_still(MeterKind kind, std::span<const Reading> readings)
{
    if (kind == MeterKind::power)
        return std::all_of(readings.begin(), readings.end(), [](const Reading& one) { return one.value <= 0; });
    return readings.back().value <= readings.front().value;
}

/// Why the meter says nothing of this time; empty: it does.
std::string why_not(const MeterSeries& series, std::int64_t begin, std::int64_t end)
{
    if (!series.lost.empty()) return series.name + ": " + series.lost;
    if (series.readings.size() < 2) return series.name + ": read less than twice";
    if (series.readings.front().time_ns > begin || series.readings.back().time_ns < end)
        return series.name + ": not read before and after";
    if (stands_still(series.kind, series.readings)) return series.name + ": opens and counts nothing";
    if (end > begin && stands_still(series.kind, around(series.readings, begin, end)))
        return series.name + ": did not move during the run";
    return {};
}

} // namespace

std::optional<double> joules_between(const MeterSeries& series, std::int64_t begin, std::int64_t end)
{
    if (series.kind == MeterKind::temperature || !why_not(series, begin, end).empty()) return {};
    if (series.kind == MeterKind::power) return integral(series.readings, begin, end);
    return value_at(series.readings, end) - value_at(series.readings, begin);
}

std::vector<std::string> domains_around(const std::string& domain)
{
    static const std::map<std::string, std::vector<std::string>> around{
        {"core", {"package", "psys", "machine"}},
        {"uncore", {"package", "psys", "machine"}},
        {"package", {"psys", "machine"}},
        {"dram", {"psys", "machine"}},
        {"psys", {"machine"}},
        {"device", {"machine"}},
        {"sensor", {"machine"}},
        {"battery", {}},
        {"machine", {"battery"}},
    };
    const auto found = around.find(domain);
    return found == around.end() ? std::vector<std::string>{"machine"} : found->second;
}

std::vector<DomainEnergy> energy_between(std::span<const MeterSeries> all, std::int64_t begin, std::int64_t end)
{
    std::map<std::string, DomainEnergy> found;
    for (const MeterSeries& one : all) {
        if (one.kind == MeterKind::temperature) continue;
        const auto [place, fresh] = found.try_emplace(one.domain, DomainEnergy{one.domain, one.source, 0.0, {}, {}});
        DomainEnergy& sum = place->second;
        if (sum.source.find(one.source) == std::string::npos) sum.source += " and " + one.source; // of different devices
        if (fresh) sum.inside = domains_around(one.domain);
        if (const auto joules = joules_between(one, begin, end); joules && sum.joules) *sum.joules += *joules;
        else if (!joules) {
            sum.joules.reset();
            sum.why += (sum.why.empty() ? "" : "; ") + why_not(one, begin, end);
        }
    }
    std::vector<DomainEnergy> sums;
    for (auto& [domain, sum] : found) sums.push_back(std::move(sum));
    return sums;
}

} // namespace trencadis
