#include "scheduling/speed_estimates.hpp"

#include <algorithm>
#include <cstdint>

namespace trencadis {

SpeedEstimates::SpeedEstimates(int workers, double nominal_flops_per_second) : nominal_(nominal_flops_per_second), rows_(workers)
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

void SpeedEstimates::observe(WorkerId worker, const Codelet& codelet, Flops flops, Seconds seconds)
{
    const int place = flops > 0 && seconds > 0 ? index(codelet, true) : -1;
    if (place < 0) return;
    std::atomic<double>& rate = rows_[worker].rate[place];
    const double before = rate.load(std::memory_order_relaxed);
    const double now = flops / seconds;
    rate.store(before == 0 ? now : before + weight * (now - before), std::memory_order_relaxed);
}

Seconds SpeedEstimates::expect(WorkerId worker, const Codelet& codelet, Flops flops) const
{
    const int place = index(codelet, false);
    const double rate = place < 0 ? 0 : rows_[worker].rate[place].load(std::memory_order_relaxed);
    return flops / (rate > 0 ? rate : nominal_);
}

Seconds SpeedEstimates::expect_best(const Codelet& codelet, Flops flops) const
{
    const int place = index(codelet, false);
    double best = 0;
    if (place >= 0)
        for (const Row& row : rows_) best = std::max(best, row.rate[place].load(std::memory_order_relaxed));
    return flops / (best > 0 ? best : nominal_);
}

} // namespace trencadis
