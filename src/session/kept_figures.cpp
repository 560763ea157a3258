// Figures of devices are kept as kernel speeds are: rates by size, of products and of copies. A latency is a rate of its own.
// Each unit has a file.
#include "session/kept_figures.hpp"

#include "base/error.hpp"
#include "kernels/providers/provider.hpp"
#include "machine/kernel_speeds.hpp"
#include "machine/machine.hpp"

#include <cerrno>

namespace trencadis {
namespace {

constexpr const char* unit = "unit"; ///< of a file's rows: the file's name says which
constexpr const char* core = "core";
constexpr const char* ways[] = {"copy.to", "copy.from"};
constexpr const char* per_second = "copies"; ///< of nothing, one after the other

constexpr const char *product = "gemm", *factor = "potrf", *update = "syrk", *solve = "trsm", *panel = "getrf";

void add_rates(KernelSpeeds& to, const char* kernel, const std::vector<MeasuredProduct>& rates)
{
    for (const MeasuredProduct& one : rates) to.set({kernel, 'd', unit}, {size_of(one.flops), one.rate});
}
std::vector<MeasuredProduct> rates_in(const KernelSpeeds& from, const char* kernel)
{
    std::vector<MeasuredProduct> rates;
    if (const auto* rows = from.find({kernel, 'd', unit}))
        for (const auto& [bucket, speed] : *rows) rates.push_back({flops_of(speed.size), speed.rate});
    return rates;
}
/// 0: it is not there.
double rate_in(const KernelSpeeds& from, const std::string& what)
{
    const auto* const rows = from.find({what, 0, unit});
    return rows && !rows->empty() ? rows->begin()->second.rate : 0;
}

KernelSpeeds table_of(const DeviceReport& device)
{
    KernelSpeeds table;
    add_rates(table, product, device.products);
    add_rates(table, factor, device.factors);
    add_rates(table, update, device.updates);
    add_rates(table, solve, device.solves);
    add_rates(table, panel, device.panels);
    for (const int way : {0, 1}) table.set({ways[way], 0, unit}, {0, device.bytes_per_second[way]});
    table.set({per_second, 0, unit}, {0, 1 / device.latency});
    return table;
}

/// False: something is missing.
bool read_device(const KernelSpeeds& table, DeviceReport& device)
{
    device.products = rates_in(table, product);
    device.factors = rates_in(table, factor);
    device.updates = rates_in(table, update);
    device.solves = rates_in(table, solve);
    device.panels = rates_in(table, panel);
    for (const int way : {0, 1}) device.bytes_per_second[way] = rate_in(table, ways[way]);
    const double copies = rate_in(table, per_second);
    device.latency = copies > 0 ? 1 / copies : 0;
    return copies > 0 && device.bytes_per_second[0] > 0 && device.bytes_per_second[1] > 0;
}

KernelSpeeds kept(const std::string& which, const KernelProvider& kernels)
{
    const auto path = kept_figures_path(which, kernels);
    return path ? KernelSpeeds::read(*path) : KernelSpeeds();
}
void keep(const KernelSpeeds& table, const std::string& which, const KernelProvider& kernels)
{
    if (const auto path = kept_figures_path(which, kernels)) table.write(*path);
}

/// No devices: something is missing.
MeasuredUnits read_all(const std::vector<std::string>& models, const KernelProvider& kernels)
{
    const KernelSpeeds of_core = kept(core, kernels);
    MeasuredUnits units{{rates_in(of_core, product), rates_in(of_core, factor)}, {}};
    if (units.core.products.empty() || units.core.factors.empty()) return {};
    for (const std::string& model : models)
        if (!read_device(kept(model, kernels), units.devices.emplace_back())) return {};
    return units;
}

} // namespace

std::optional<std::filesystem::path> kept_figures_path(const std::string& model, const KernelProvider& kernels)
{
    return kernel_speeds_path(machine_at_hand().name, "figures of kinds of kernels, the shortest of some, of " + model + "; " +
                                                          kernels.name() + ' ' + kernels.version());
}

MeasuredUnits figures_anew(const std::string& words, const KernelProvider& kernels, const SurveyBounds& bounds)
{
    const MeasuredUnits units{measure_core(kernels), survey_devices(words, kernels, bounds)};
    const int kept_errno = errno;
    KernelSpeeds of_core;
    add_rates(of_core, product, units.core.products);
    add_rates(of_core, factor, units.core.factors);
    keep(of_core, core, kernels);
    for (const DeviceReport& device : units.devices) keep(table_of(device), device.model, kernels);
    errno = kept_errno;
    return units;
}

MeasuredUnits figures_at_hand(const std::string& words, const std::vector<std::string>& models, const KernelProvider& kernels)
{
    const int kept_errno = errno;
    MeasuredUnits units = read_all(models, kernels);
    errno = kept_errno;
    if (units.devices.size() == models.size()) return units;
    units = figures_anew(words, kernels);
    if (units.devices.size() == models.size()) return units;
    throw Error(ErrorCode::environment, "devices '" + words + "' were " + std::to_string(models.size()) +
                                            " when they were opened and " + std::to_string(units.devices.size()) +
                                            " when they were measured; try again");
}

} // namespace trencadis
