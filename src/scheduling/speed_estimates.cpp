#include "scheduling/speed_estimates.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace trencadis {

SpeedEstimates::SpeedEstimates(std::vector<int> kinds, double nominal_flops_per_second)
    : kinds_(std::move(kinds)), nominal_(nominal_flops_per_second), rows_(kinds_.size())
{
}

/// A place in a small open-addressed table that only ever fills up; -1 when there is none.
int SpeedEstimates::index(const Codelet& codelet, bool insert) const
{
    const auto start = (reinterpret_cast<std::uintptr_t>(&codelet) * 0x9E3779B97F4A7C15ull) >> 58;
    for (int step = 0; step < capacity; ++step) {
        const int place = static_cast<int>((start + step) % capacity);
        const Codelet* known = codelets_[place].load(std::memory_order_relaxed);
        if (known == &codelet) return place;
        if (known) continue;
        if (!insert) return -1;
        if (codelets_[place].compare_exchange_strong(known, &codelet, std::memory_order_relaxed) || known == &codelet)
            return place;
    }
    return -1;
}

void SpeedEstimates::observe(WorkerId worker, const Codelet& codelet, Flops flops, Seconds took, Seconds now)
{
    const int place = flops > 0 && took > 0 ? index(codelet, true) : -1;
    if (place < 0) return;
    Seen& seen = rows_[worker].seen[place];
    const double before = seen.rate.load(std::memory_order_relaxed), rate = flops / took;
    const bool stale = before == 0 || now - seen.at.load(std::memory_order_relaxed) > forgotten;
    seen.rate.store(stale ? rate : before + weight * (rate - before), std::memory_order_relaxed);
    seen.at.store(now, std::memory_order_relaxed);
}

double SpeedEstimates::best_rate(int place, int kind) const
{
    double best = 0;
    for (std::size_t worker = 0; worker < rows_.size(); ++worker)
        if (kind == any_kind || kinds_[worker] == kind)
            best = std::max(best, rows_[worker].seen[place].rate.load(std::memory_order_relaxed));
    return best;
}

Seconds SpeedEstimates::expect(WorkerId worker, const Codelet& codelet, Flops flops, Seconds now) const
{
    const int place = index(codelet, false);
    if (place < 0) return flops / nominal_;
    const Seen& seen = rows_[worker].seen[place];
    double rate = seen.rate.load(std::memory_order_relaxed);
    const Seconds age = now - seen.at.load(std::memory_order_relaxed);
    if (rate == 0) rate = best_rate(place, kinds_[worker]);
    else if (age > valid) rate += (best_rate(place, kinds_[worker]) - rate) * std::min(1.0, (age - valid) / (forgotten - valid));
    if (rate == 0) rate = best_rate(place, any_kind);
    return flops / (rate > 0 ? rate : nominal_);
}

Seconds SpeedEstimates::expect_best(const Codelet& codelet, Flops flops) const
{
    const int place = index(codelet, false);
    const double best = place < 0 ? 0 : best_rate(place, any_kind);
    return flops / (best > 0 ? best : nominal_);
}

} // namespace trencadis
