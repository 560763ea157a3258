#include "scheduling/speed_estimates.hpp"

#include "graph/codelet_name.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <utility>

namespace trencadis {

SpeedEstimates::SpeedEstimates(std::vector<int> kinds, double nominal_flops_per_second, KernelSpeeds known,
                               std::vector<std::string> kind_names, std::size_t devices)
    : kinds_(std::move(kinds)), nominal_(nominal_flops_per_second), known_(std::move(known)), kind_names_(std::move(kind_names)),
      cores_(kinds_.size() - devices)
{
    tables_.push_back(std::make_unique<Table>(128));
    table_.store(tables_.back().get(), std::memory_order_relaxed);
}

SpeedEstimates::~SpeedEstimates() = default;

/// The codelet's, or the free one where it belongs.
std::size_t SpeedEstimates::place(const Table& table, const Codelet& codelet)
{
    const std::size_t mask = table.slots.size() - 1;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(&codelet) * 0x9E3779B97F4A7C15ull >> 32) & mask;
    // Acquire: what was written of the kernel before it was put there.
    for (const Kernel* known; (known = table.slots[at].load(std::memory_order_acquire)); at = (at + 1) & mask)
        if (known->codelet == &codelet) break;
    return at;
}

/// Null: there is no memory for a new one.
const SpeedEstimates::Kernel* SpeedEstimates::find(const Codelet& codelet) const
{
    const Table& table = *table_.load(std::memory_order_acquire);
    // Acquire: a slot that was free a moment ago may have been taken meanwhile, by another codelet even.
    const Kernel* const known = table.slots[place(table, codelet)].load(std::memory_order_acquire);
    return known && known->codelet == &codelet ? known : add(codelet);
}

SpeedEstimates::Kernel* SpeedEstimates::add(const Codelet& codelet) const noexcept
{
    try {
        const std::lock_guard lock(growing_);
        Table* table = tables_.back().get();
        if (Kernel* known = table->slots[place(*table, codelet)].load(std::memory_order_relaxed)) return known;
        auto made =
            std::make_unique<Kernel>(Kernel{&codelet, std::vector<Row>(kinds_.size()), std::vector<Row>(kinds_.size() - cores_)});
        recall(*made);
        kernels_.reserve(kernels_.size() + 1);
        if (2 * (kernels_.size() + 1) > table->slots.size()) {
            auto larger = std::make_unique<Table>(2 * table->slots.size());
            for (const auto& kernel : kernels_)
                larger->slots[place(*larger, *kernel->codelet)].store(kernel.get(), std::memory_order_relaxed);
            table = larger.get();
            tables_.push_back(std::move(larger));
        }
        kernels_.push_back(std::move(made));
        Kernel* const kernel = kernels_.back().get();
        table->slots[place(*table, codelet)].store(kernel, std::memory_order_release);
        table_.store(table, std::memory_order_release);
        return kernel;
    } catch (const std::bad_alloc&) {
        return nullptr; // an estimate is advice
    }
}

/// What earlier runs have seen of it.
void SpeedEstimates::recall(Kernel& kernel) const
{
    if (known_.empty()) return;
    constexpr Seconds long_ago = -1e18;
    for (std::size_t worker = 0; worker < kinds_.size() && worker < kind_names_.size(); ++worker) {
        const Codelet& codelet = *kernel.codelet;
        const auto* speeds = known_.find({unique_name(codelet), codelet.precision, kind_names_[worker]});
        // Beside devices a variant begins as its kind: as fast as a core, a device would never be asked.
        if (!speeds && cores_ < kinds_.size()) speeds = known_.find({codelet.name, codelet.precision, kind_names_[worker]});
        if (!speeds) continue;
        const auto note = [&](Sizes& sizes, int bucket, const KernelSpeed& speed) {
            Seen& seen = sizes[std::size_t(bucket)];
            seen.rate.store(speed.rate, std::memory_order_relaxed);
            seen.size.store(speed.size, std::memory_order_relaxed);
            seen.at.store(long_ago, std::memory_order_relaxed);
        };
        for (const auto& [bucket, speed] : *speeds) {
            note(kernel.rows[worker].seen, bucket, speed);
            if (is_device(worker)) note(kernel.known[worker - cores_].seen, bucket, speed);
        }
    }
}

void SpeedEstimates::observe(WorkerId worker, const Codelet& codelet, Flops flops, Seconds took, Seconds now, double part)
{
    if (!(flops > 0 && took > 0 && part > 0)) return;
    const Kernel* const kernel = find(codelet);
    if (!kernel) return;
    const double size = size_of(flops), rate = part * flops / took;
    Seen& seen = const_cast<Seen&>(kernel->rows[std::size_t(worker)].seen[std::size_t(KernelSpeeds::bucket(size))]);
    double before = seen.rate.load(std::memory_order_relaxed);
    const double about = before > 0 ? seen.size.load(std::memory_order_relaxed) : size;
    bool stale = before == 0 || now - seen.at.load(std::memory_order_relaxed) > forgotten;
    if (is_device(std::size_t(worker))) {
        if (before == 0) before = rate_at(kernel->rows[std::size_t(worker)].seen, size);
        stale &= rate >= before;
    }
    seen.size.store(stale ? size : about + weight * (size - about), std::memory_order_relaxed);
    seen.rate.store(stale ? rate : before + weight * (rate - before), std::memory_order_relaxed);
    seen.at.store(now, std::memory_order_relaxed);
}

/// Between the next sizes below and above that were seen; 0: none was.
double SpeedEstimates::rate_at(const Sizes& seen, double size)
{
    constexpr double alike = 0.5;
    const auto rate_of = [&](int bucket) { return seen[std::size_t(bucket)].rate.load(std::memory_order_relaxed); };
    const auto size_seen = [&](int bucket) { return seen[std::size_t(bucket)].size.load(std::memory_order_relaxed); };
    const int own = KernelSpeeds::bucket(size);
    const double here = rate_of(own);
    if (here > 0 && std::abs(size_seen(own) - size) < alike) [[likely]]
        return here;
    int below = own, above = own;
    while (below >= 0 && !(rate_of(below) > 0 && size_seen(below) <= size)) --below;
    while (above < KernelSpeeds::buckets && !(rate_of(above) > 0 && size_seen(above) >= size)) ++above;
    if (below < 0) return above < KernelSpeeds::buckets ? rate_of(above) : 0;
    if (above == KernelSpeeds::buckets) return rate_of(below);
    const double low = size_seen(below), high = size_seen(above);
    return high > low ? rate_of(below) + (rate_of(above) - rate_of(below)) * (size - low) / (high - low) : rate_of(below);
}

double SpeedEstimates::best_rate(const Kernel& kernel, double size, int kind) const
{
    double best = 0;
    for (std::size_t worker = 0; worker < kernel.rows.size(); ++worker)
        if (kind == any_kind || kinds_[worker] == kind) best = std::max(best, rate_at(kernel.rows[worker].seen, size));
    return best;
}

/// Of a device: what it was slower at than earlier runs have seen is forgotten.
double SpeedEstimates::faded(const Kernel& kernel, std::size_t worker, double size, double rate, Seconds age) const
{
    if (age <= valid_on_device) return rate;
    const double part = std::min(1.0, (age - valid_on_device) / (forgotten_on_device - valid_on_device));
    return rate + std::max(0.0, rate_at(kernel.known[worker - cores_].seen, size) - rate) * part;
}

Seconds SpeedEstimates::expect(WorkerId worker, const Codelet& codelet, Flops flops, Seconds now) const
{
    const Kernel* const kernel = find(codelet);
    if (!kernel) return flops / nominal_;
    const double size = size_of(flops);
    const Sizes& own = kernel->rows[std::size_t(worker)].seen;
    const int kind = kinds_[std::size_t(worker)];
    double rate = rate_at(own, size);
    const Seconds age = now - own[std::size_t(KernelSpeeds::bucket(size))].at.load(std::memory_order_relaxed);
    if (rate == 0) rate = best_rate(*kernel, size, kind);
    else if (is_device(std::size_t(worker))) rate = faded(*kernel, std::size_t(worker), size, rate, age);
    else if (age > valid) rate += (best_rate(*kernel, size, kind) - rate) * std::min(1.0, (age - valid) / (forgotten - valid));
    if (rate == 0) rate = best_rate(*kernel, size, any_kind);
    return flops / (rate > 0 ? rate : nominal_);
}

Seconds SpeedEstimates::expect_best(const Codelet& codelet, Flops flops) const
{
    const Kernel* const kernel = find(codelet);
    const double best = kernel ? best_rate(*kernel, size_of(flops), any_kind) : 0;
    return flops / (best > 0 ? best : nominal_);
}

KernelSpeeds SpeedEstimates::seen() const
{
    KernelSpeeds all = known_;
    const std::lock_guard lock(growing_);
    for (const auto& kernel : kernels_)
        for (std::size_t worker = 0; worker < kernel->rows.size() && worker < kind_names_.size(); ++worker) {
            const KernelKey key{unique_name(*kernel->codelet), kernel->codelet->precision, kind_names_[worker]};
            for (std::size_t b = 0; b < KernelSpeeds::buckets; ++b) {
                double best = 0, size = 0;
                for (std::size_t other = 0; other < kernel->rows.size(); ++other) {
                    const Seen& seen = kernel->rows[other].seen[b];
                    const double rate = seen.rate.load(std::memory_order_relaxed);
                    if (kinds_[other] != kinds_[worker] || !(rate > best)) continue;
                    best = rate;
                    size = seen.size.load(std::memory_order_relaxed);
                }
                if (best > 0) all.set(key, {size, best});
            }
        }
    return all;
}

} // namespace trencadis
