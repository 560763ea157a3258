#include "choices/device_choice.hpp"

#include "choices/names_context.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr double worth_it = 0.7; ///< of the time that cores alone are expected to take

bool takes(const DeviceFigures& device, const Codelet& codelet, const void* args, Bytes operands)
{
    return !device.speed.empty() && device.bytes_per_second[0] > 0 && device.bytes_per_second[1] > 0 &&
           operands <= device.bytes && device.unit.can_run(codelet, args);
}

DeviceLink link_of(const DeviceFigures& device)
{
    return {{device.bytes_per_second[0], device.bytes_per_second[1]}, device.latency};
}
std::vector<DeviceLink> links_of(const UnitFigures& figures)
{
    std::vector<DeviceLink> links;
    for (const DeviceFigures& device : figures.devices) links.push_back(link_of(device));
    return links;
}

/// A small piece of memory to it and back.
Seconds hop(const DeviceFigures& device, Bytes bytes)
{
    return device.latency + bytes / std::min(device.bytes_per_second[0], device.bytes_per_second[1]);
}

/// Of tasks larger than any that was measured. What a factorization or a solve costs beyond its products is a chain along its
/// columns, whose length grows as the order does; the rest goes on at the speed of products.
Seconds time_beyond(const SpeedCurve::Point& last, double products, Flops flops)
{
    const double longer = std::cbrt(flops / last.flops);
    return longer * last.flops / last.rate + (flops - longer * last.flops) / std::max(products, last.rate);
}

template <class Unit> Seconds time_on(const Unit& unit, const Codelet& codelet, Flops flops)
{
    const SpeedCurve& curve = curve_for(unit, codelet.name);
    if (std::is_same_v<Unit, DeviceFigures> && &curve != &unit.speed && flops > curve.points().back().flops)
        return time_beyond(curve.points().back(), unit.speed.points().back().rate, flops);
    return curve.time(flops);
}

} // namespace

SpeedCurve::SpeedCurve(std::vector<Point> points) : points_(std::move(points)) { std::ranges::sort(points_, {}, &Point::flops); }

double SpeedCurve::rate(Flops flops) const
{
    if (points_.empty()) return 0;
    const auto above = std::ranges::lower_bound(points_, flops, {}, &Point::flops);
    if (above == points_.begin()) return above->rate;
    if (above == points_.end()) return points_.back().rate;
    const Point &low = above[-1], &high = *above;
    const double part = std::log2(flops / low.flops) / std::log2(high.flops / low.flops);
    return low.rate + part * (high.rate - low.rate);
}

CallOutlook::CallOutlook(const UnitFigures& figures, Homes homes) : CallOutlook(figures, Tasks::of_all, std::move(homes)) {}

CallOutlook::CallOutlook(const UnitFigures& figures, Tasks tasks, Homes homes)
    : figures_(figures), homes_(std::move(homes)), parts_(tasks == Tasks::of_all ? figures.devices.size() : 0),
      schedule_(figures.cores, tasks == Tasks::of_all ? links_of(figures) : std::vector<DeviceLink>(), homes_),
      on_devices_(parts_.size())
{
    double fastest = 0;
    for (std::size_t d = 0; d < parts_.size(); ++d) {
        const SpeedCurve& speed = figures.devices[d].speed;
        if (speed.empty() || speed.points().back().rate <= fastest) continue;
        fastest = speed.points().back().rate;
        lead_ = static_cast<int>(d);
    }
}

CallOutlook::Operands CallOutlook::operands_of(std::span<const Access> accesses)
{
    Operands operands;
    for (const Access& access : accesses) {
        const Bytes bytes = access.datum.bytes();
        const bool alone = access.mode != AccessMode::concurrent_write && access.mode != AccessMode::reduce;
        operands.may_move &= alone && bytes > 0;
        operands.all += bytes;
        if (is_writing(access.mode)) operands.written += bytes;
    }
    operands.may_move &= !accesses.empty();
    return operands;
}

CallOutlook::OnCores CallOutlook::on_cores(const Codelet& codelet, void* args, Flops flops,
                                           std::span<const Access> accesses) const
{
    if (!codelet.submits) {
        const Seconds took = time_on(figures_, codelet, flops);
        return {took, took};
    }
    CallOutlook inside(figures_, Tasks::of_cores);
    SharedWork work;
    Team team(work);
    NamesContext context(team, accesses, inside);
    codelet.core(args, context);
    return {inside.total_, std::max(inside.longest_alone_, inside.total_ / figures_.cores)};
}

void CallOutlook::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const TaskOptions&)
{
    const Flops flops = codelet.flops ? codelet.flops(arguments.data) : 0;
    const auto [on_core, took] = on_cores(codelet, arguments.data, flops, accesses);
    const Operands operands = operands_of(accesses);
    Seconds on_lead = -1;
    bool moves = false;
    std::ranges::fill(on_devices_, Seconds(-1));
    for (std::size_t d = 0; d < parts_.size() && operands.may_move; ++d) {
        const DeviceFigures& device = figures_.devices[d];
        if (!takes(device, codelet, arguments.data, operands.all)) continue;
        const Seconds here = time_on(device, codelet, flops);
        parts_[d].here += here;
        on_devices_[d] = here;
        parts_[d].on_core += on_core;
        moves = true;
        if (static_cast<int>(d) == lead_) on_lead = here;
    }
    total_ += on_core;
    if (!parts_.empty()) schedule_.add({took, codelet.submits, on_devices_}, accesses);
    if (moves) {
        for (const Access& access : accesses) {
            Value& value = value_of(access.datum.address);
            if (value.at_home_there) continue;
            const Bytes bytes = access.datum.bytes();
            ++operands_;
            used_ += bytes;
            if (!std::exchange(value.read, true)) distinct_ += bytes;
            if (!is_writing(access.mode)) continue;
            used_written_ += bytes;
            if (!std::exchange(value.written, true)) distinct_written_ += bytes;
        }
    }
    advance(accesses, took, on_lead, accesses.empty() ? 0 : operands.all / double(accesses.size()));
}

CallOutlook::Value& CallOutlook::value_of(const void* datum)
{
    const auto [at, is_new] = values_.try_emplace(datum);
    if (is_new && homes_) at->second.on_device = at->second.at_home_there = homes_(datum) >= 0;
    return at->second;
}

/// The task ends where it would end first, were there as many units as it takes. Readers are not waited for.
void CallOutlook::advance(std::span<const Access> accesses, Seconds on_core, Seconds on_device, Bytes bytes)
{
    const Seconds across = lead_ >= 0 ? hop(figures_.devices[std::size_t(lead_)], bytes) : 0;
    Seconds alone = 0, core = 0, device = 0;
    for (const Access& access : accesses) {
        const Value& value = value_of(access.datum.address);
        alone = std::max(alone, value.alone);
        core = std::max(core, value.with + (value.on_device ? across : 0));
        device = std::max(device, value.with + (value.on_device ? 0 : across));
    }
    const bool there = on_device >= 0 && device + on_device < core + on_core;
    const Seconds ends = there ? device + on_device : core + on_core;
    alone += on_core;
    longest_alone_ = std::max(longest_alone_, alone);
    longest_with_ = std::max(longest_with_, ends);
    for (const Access& access : accesses) {
        if (!is_writing(access.mode)) continue;
        Value& value = value_of(access.datum.address);
        if (there != value.at_home_there) longest_with_ = std::max(longest_with_, ends + across);
        value.alone = alone;
        value.with = ends;
        value.on_device = there;
    }
}

/// How long the copies of a device take that does this share of what devices could do. What has room there moves once at most;
/// of what has none, as much as does not fit moves each time that it is used.
Seconds CallOutlook::links(const DeviceFigures& device, double share) const
{
    if (operands_ == 0) return 0;
    const double missing = distinct_ > device.bytes ? 1 - device.bytes / distinct_ : 0;
    const auto moved = [&](Bytes once, Bytes each_time) {
        const Bytes least = std::min(once, each_time * share);
        return least + missing * std::max(0.0, each_time * share - least);
    };
    const double operand = used_ / double(operands_);
    const auto takes = [&](Bytes bytes, double bandwidth) { return bytes / bandwidth + bytes / operand * device.latency; };
    return std::max(takes(moved(distinct_, used_), device.bytes_per_second[0]),
                    takes(moved(distinct_written_, used_written_), device.bytes_per_second[1]));
}

/// Nobody is idle but for what only cores can do, for the links, and for the longest chain; and nothing runs on a device before
/// its first operands are there, nor is over before the last result is back.
Seconds CallOutlook::with_at_least(DeviceSet set) const
{
    double speed = figures_.cores; // in cores
    Seconds able = 0;
    for (std::size_t d = 0; d < parts_.size(); ++d) {
        if (!(set >> d & 1) || !(parts_[d].here > 0)) continue;
        speed += parts_[d].on_core / parts_[d].here;
        able = std::max(able, parts_[d].on_core);
    }
    const Seconds work = std::max(total_ / speed, (total_ - able) / figures_.cores);
    Seconds longest = std::max(work, longest_with_), first = 0;
    for (std::size_t d = 0; d < parts_.size(); ++d) {
        if (!(set >> d & 1) || !(parts_[d].here > 0)) continue;
        const DeviceFigures& device = figures_.devices[d];
        const double share = std::min(1.0, work / parts_[d].here);
        longest = std::max(longest, links(device, share));
        if (operands_ > 0) first = std::max(first, 2 * hop(device, used_ / double(operands_)));
    }
    return longest + first;
}

Seconds CallOutlook::with(DeviceSet set) const { return std::max(with_at_least(set), schedule_.end(set)); }

Seconds CallOutlook::with_all() const
{
    DeviceSet all = 0;
    for (std::size_t d = 0; d < parts_.size() && d < std::size_t(most_devices); ++d) {
        if (figures_.devices[d].speed.empty()) return 0;
        all |= DeviceSet(1) << d;
    }
    return with(all);
}

CallOutlook::Choice CallOutlook::choose(Seconds alone) const
{
    Choice choice{.alone = std::min(alone, std::max(total_ / figures_.cores, longest_alone_))};
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < parts_.size() && d < std::size_t(most_devices); ++d)
        if (parts_[d].here > 0) order.push_back(d);
    std::ranges::stable_sort(order, {}, [&](std::size_t d) { return parts_[d].here / parts_[d].on_core; });
    DeviceSet set = 0;
    for (const std::size_t d : order) {
        const DeviceSet tried = set | DeviceSet(1) << d;
        const Seconds expected = with(tried);
        if (choice.with > 0 && expected >= choice.with) continue; // it does not help
        set = tried;
        choice.with = expected;
        if (expected <= worth_it * choice.alone) choice.devices = set;
    }
    return choice;
}

} // namespace trencadis::choices
