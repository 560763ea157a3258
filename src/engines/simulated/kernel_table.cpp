#include "engines/simulated/kernel_table.hpp"

#include "graph/codelet_name.hpp"
#include "machine/kernel_times.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace trencadis {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

std::string unit_name(const Machine& machine, int type)
{
    const int kinds = static_cast<int>(machine.kinds.size());
    return type < kinds ? machine.kinds[type].name : machine.devices[type - kinds].name;
}

KernelKey key_of(const Codelet& codelet, std::string unit) { return {unique_name(codelet), codelet.precision, std::move(unit)}; }

Seconds time_at(const KernelTime& known, Flops flops, double speed)
{
    return known.time(flops) / (known.memory_bound ? 1 : speed);
}

std::string joined(const Machine& machine, std::span<const int> kinds)
{
    std::string names;
    for (const int kind : kinds) names += (names.empty() ? "" : "+") + machine.kinds[kind].name;
    return names;
}

} // namespace

KernelTable::KernelTable(const Machine& machine)
    : machine_(machine), kinds_(static_cast<int>(machine.kinds.size())), best_rate_(machine.kinds.size() + machine.devices.size())
{
    for (std::size_t type = 0; type < best_rate_.size(); ++type)
        for (const KernelTime& known : machine.kernels)
            if (find_kernel(machine, known.kernel, unit_name(machine, static_cast<int>(type))) == &known)
                best_rate_[type] = std::max(best_rate_[type], known.gflops * 1e9);
}

const KernelTable::Row& KernelTable::row(const Codelet& codelet) const
{
    if (last_ < rows_.size() && rows_[last_].codelet == &codelet) return rows_[last_];
    for (last_ = 0; last_ < rows_.size(); ++last_)
        if (rows_[last_].codelet == &codelet) return rows_[last_];
    Row row{&codelet, {}, {}};
    for (std::size_t type = 0; type < best_rate_.size(); ++type)
        row.on_type.push_back(find_kernel(machine_, key_of(codelet, unit_name(machine_, static_cast<int>(type)))));
    for (int a = 0; a < kinds_; ++a)
        for (int b = 0; b < kinds_; ++b)
            row.on_pair.push_back(find_kernel(machine_, key_of(codelet, joined(machine_, std::vector{a, b}))));
    rows_.push_back(std::move(row));
    return rows_.back();
}

bool KernelTable::able(const Codelet& codelet, int type) const
{
    if (!codelet.flops || codelet.submits) return type < kinds_;
    return row(codelet).on_type[type] != nullptr;
}

Seconds KernelTable::time(const Codelet& codelet, Flops flops, int type, double speed) const
{
    if (!codelet.flops || codelet.submits) return type < kinds_ ? 0 : never;
    const KernelTime* known = row(codelet).on_type[type];
    if (!known) return never;
    return flops > 0 ? time_at(*known, flops, speed) : 0;
}

Seconds KernelTable::guess(Flops flops, int type) const { return best_rate_[type] > 0 ? flops / best_rate_[type] : 0; }

Seconds KernelTable::team_time(const Codelet& codelet, Flops flops, std::span<const int> kinds, double speed) const
{
    if (!codelet.flops || codelet.submits || flops <= 0 || kinds.size() < 2) return 0;
    if (std::ranges::any_of(kinds, [this](int kind) { return kind >= kinds_; })) return 0;
    if (kinds.size() == 2) {
        const KernelTime* known = row(codelet).on_pair[kinds[0] * kinds_ + kinds[1]];
        return known ? time_at(*known, flops, speed) : 0;
    }
    const KernelTime* known = find_kernel(machine_, key_of(codelet, joined(machine_, kinds)));
    return known ? time_at(*known, flops, speed) : 0;
}

double KernelTable::sharing_loss(const Codelet& codelet, Flops flops, std::span<const int> kinds) const
{
    double loss = 1;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const int pair[] = {kinds[i], kinds[j]};
            const Seconds together = team_time(codelet, flops, pair);
            const double rate = 1 / time(codelet, flops, kinds[i]) + 1 / time(codelet, flops, kinds[j]);
            if (together > 0) loss = std::max(loss, together * rate);
        }
    return loss;
}

} // namespace trencadis
