#include "observe/energy/meters.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace trencadis {

namespace {

/// Is the domain a sum, of packages or devices? Sensors, and temperatures, are each for itself.
bool is_sum(const std::string& domain) { return !domain.empty() && domain != "sensor" && domain != "temperature"; }

/// The meters of domains of which the same source lacks another one.
void drop_parts(FoundMeters& found)
{
    std::map<std::pair<std::string, std::string>, std::string> lacking; // by source and domain
    for (const MissingMeter& one : found.missing)
        if (is_sum(one.domain)) lacking.try_emplace({one.source, one.domain}, one.name);
    std::vector<std::unique_ptr<Meter>> whole;
    for (auto& meter : found.meters) {
        const auto other = lacking.find({meter->source, meter->domain});
        if (other == lacking.end()) whole.push_back(std::move(meter));
        else found.missing.push_back({meter->source, meter->name, "is a part of its domain alone: there is no " + other->second});
    }
    found.meters = std::move(whole);
}

/// Who counts what this meter counts, among those kept; empty: nobody.
std::string counted_by(const Meter& meter, const std::vector<std::unique_ptr<Meter>>& kept)
{
    if (meter.kind == MeterKind::temperature || !is_sum(meter.domain)) return {};
    for (const auto& other : kept) {
        if (other->domain != meter.domain || other->source == meter.source) continue;
        const bool known = !meter.device.empty() && !other->device.empty();
        if (!known || meter.device == other->device) return other->source;
    }
    return {};
}

/// Of each domain, and of each device, the meters of the source that was looked for first.
void keep_one_source_per_domain(FoundMeters& found)
{
    std::vector<std::unique_ptr<Meter>> kept;
    for (auto& meter : found.meters) {
        const std::string by = counted_by(*meter, kept);
        if (by.empty()) kept.push_back(std::move(meter));
        else found.missing.push_back({meter->source, meter->name, "counts what " + by + " counts"});
    }
    found.meters = std::move(kept);
}

/// Does something that takes power, for a millisecond.
double calculate()
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    double sum = 0;
    while (std::chrono::steady_clock::now() < end)
        for (int i = 1; i < 200; ++i) sum += std::sqrt(double(i) + sum);
    return sum;
}

} // namespace

FoundMeters find_meters(const MeterPlaces& places)
{
    FoundMeters found;
    meters::find_powercap(places, found);
    meters::find_perf(places, found);
    meters::find_hwmon(places, found);
    meters::find_nvml(places, found);
    meters::find_battery(places, found);
    drop_parts(found);
    keep_one_source_per_domain(found);
    return found;
}

void keep_those_that_move(FoundMeters& found, double limit_s)
{
    std::vector<std::optional<double>> first;
    std::vector<char> moves;
    for (auto& meter : found.meters) {
        first.push_back(meter->read());
        moves.push_back(meter->kind == MeterKind::temperature);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    while (std::count(moves.begin(), moves.end(), 0) && std::chrono::steady_clock::now() < end) {
        [[maybe_unused]] volatile double kept = calculate();
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const auto now = moves[i] ? std::nullopt : found.meters[i]->read();
            if (now && first[i]) moves[i] = found.meters[i]->kind == MeterKind::power ? *now > 0 : *now != *first[i];
        }
    }
    std::set<std::pair<std::string, std::string>> alive; // sources and domains
    for (std::size_t i = 0; i < moves.size(); ++i)
        if (moves[i] && is_sum(found.meters[i]->domain)) alive.emplace(found.meters[i]->source, found.meters[i]->domain);
    std::vector<std::unique_ptr<Meter>> kept;
    for (std::size_t i = 0; i < moves.size(); ++i) {
        Meter& meter = *found.meters[i];
        if (moves[i] || alive.contains({meter.source, meter.domain})) kept.push_back(std::move(found.meters[i]));
        else found.missing.push_back({meter.source, meter.name, meter.where + ": opens and counts nothing under load"});
    }
    found.meters = std::move(kept);
}

} // namespace trencadis
