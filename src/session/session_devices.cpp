#include "session/session_devices.hpp"

#include "base/error.hpp"
#include "session/kept_figures.hpp"

#include <algorithm>
#include <utility>

namespace trencadis {
namespace {

/// So many of the fastest of them: emulated slowness and slower kinds count as what they are.
double cores_of(const std::vector<WorkerPlace>& places, const Machine& machine)
{
    const auto peak = [&](const WorkerPlace& place) {
        const double known = machine.kinds[std::size_t(place.kind)].peak_gflops;
        return known > 0 ? known : 1;
    };
    double best = 0, sum = 0;
    for (const WorkerPlace& place : places) best = std::max(best, peak(place));
    for (const WorkerPlace& place : places) sum += place.slow * peak(place) / best;
    return sum;
}

choices::SpeedCurve curve_of(const std::vector<MeasuredProduct>& products)
{
    std::vector<choices::SpeedCurve::Point> points;
    for (const MeasuredProduct& product : products) points.push_back({product.flops, product.rate});
    return points;
}

} // namespace

std::vector<DeviceUnit> SessionDevices::open(const SessionOptions& resolved, const std::vector<WorkerPlace>& places,
                                             const Machine& machine, const KernelProvider& kernels)
{
    const std::string& words = resolved.devices;
    if (words.empty()) return {};
    if (!resolved.machine.empty())
        throw Error(ErrorCode::bad_argument, "devices '" + words + "' are of this machine, and machine '" + resolved.machine +
                                                 "' is laid over it; leave out the one or the other");
    list_ = devices::open_devices(words);
    if (list_.size() > std::size_t(choices::most_devices))
        throw Error(ErrorCode::bad_argument, "devices '" + words + "' are " + std::to_string(list_.size()) +
                                                 ", and a session has at most " + std::to_string(choices::most_devices));
    std::vector<DeviceUnit> units;
    for (const auto& device : list_) {
        kernels_.push_back(kernels_on(device->kernels(), kernels));
        units.push_back({device.get(), kernels_.back().get()});
    }
    always_ = devices::take_part_always(words);
    in_flight_ = devices::tasks_in_flight(words);
    if (always_) return units;
    std::vector<std::string> models;
    for (const auto& device : list_) models.push_back(device->model());
    const MeasuredUnits measured = figures_at_hand(words, models, kernels);
    figures_ = {{UnitKind::core, process_memory, &kernels},
                cores_of(places, machine),
                curve_of(measured.core.products),
                {},
                curve_of(measured.core.factors)};
    for (std::size_t d = 0; d < list_.size(); ++d) {
        const DeviceReport& its = measured.devices[d];
        const double(&ways)[2] = its.bytes_per_second;
        figures_.devices.push_back({{UnitKind::device, static_cast<int>(d) + 1, units[d].kernels},
                                    list_[d]->bytes(),
                                    curve_of(its.products),
                                    {ways[0], ways[1]},
                                    its.latency,
                                    curve_of(its.factors),
                                    curve_of(its.updates),
                                    curve_of(its.solves),
                                    curve_of(its.panels)});
        std::copy(std::begin(ways), std::end(ways), units[d].bytes_per_second);
    }
    return units;
}

Bytes SessionDevices::least_bytes() const
{
    Bytes least = 0;
    for (const auto& device : list_) least = least > 0 ? std::min(least, device->bytes()) : device->bytes();
    return least;
}

std::optional<Crew::TakenPlan> SessionDevices::plan_of(const Crew::PlanKey& key) const
{
    const std::lock_guard lock(plans_mutex_);
    const auto known = plans_.find(key);
    return known == plans_.end() ? std::nullopt : std::optional(known->second);
}
void SessionDevices::keep_plan(const Crew::PlanKey& key, const Crew::TakenPlan& plan) const
{
    constexpr std::size_t most = 1000; // who calls with ever new sizes has them weighed anew
    const std::lock_guard lock(plans_mutex_);
    if (plans_.size() >= most) plans_.clear();
    plans_.insert_or_assign(key, plan);
}

Crew::Forecast SessionDevices::foresee(const std::function<void(Flow&)>& submit, Seconds alone) const
{
    if (list_.empty()) return {};
    if (always_) return {undecided() >> (std::size_t(choices::most_devices) - list_.size())};
    choices::CallOutlook outlook(figures_);
    submit(outlook);
    const choices::CallOutlook::Choice choice = outlook.choose(alone);
    return {choice.devices, choice.with, choice.alone};
}

Seconds SessionDevices::expected_there(const std::function<void(Flow&)>& submit, choices::Homes homes) const
{
    if (list_.empty() || always_) return 0;
    choices::CallOutlook outlook(figures_, std::move(homes));
    submit(outlook);
    return outlook.with_all();
}

/// Of the kernels that devices have: what is seen later takes the place of that. In single precision as in double: what a device
/// and a core reach there was not measured, and devices are no slower. Without, a device that is a hundred cores' worth would be
/// taken for one of them at first, and each core be given a tile.
KernelSpeeds SessionDevices::speeds(const std::vector<WorkerPlace>& places) const
{
    KernelSpeeds speeds;
    const auto add = [&](const std::string& named, const auto& unit) {
        for (const char* const codelet : {"gemm", "syrk", "herk", "trsm", "gessm", "ssssm", "potrf", "lu_update", "trsm.column",
                                          "getrf_panel.column", "potrf.column", "gemm.column", "trsm.below", "trsm.triangle"})
            for (const choices::SpeedCurve::Point& point : choices::curve_for(unit, codelet).points())
                for (const char precision : {'s', 'd', 'c', 'z'})
                    speeds.set({codelet, precision, named}, {size_of(point.flops), point.rate});
    };
    for (std::size_t d = 0; d < figures_.devices.size(); ++d) add(name(d), figures_.devices[d]);
    for (const WorkerPlace& place : places) add(place.kind_name, figures_);
    return speeds;
}

} // namespace trencadis
