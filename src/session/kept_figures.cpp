// Figures of devices are kept as kernel speeds are: rates by size, of products and of copies. A latency is a rate of its own.
#include "session/kept_figures.hpp"

#include "base/error.hpp"
#include "kernels/providers/provider.hpp"
#include "machine/kernel_speeds.hpp"
#include "machine/machine.hpp"

#include <cerrno>

namespace trencadis {
namespace {

constexpr const char* core_unit = "core";
constexpr const char* ways[] = {"copy.to", "copy.from"};
constexpr const char* per_second = "copies"; ///< of nothing, one after the other

/// Devices of one list may have one name.
std::string unit_of(std::size_t device) { return "device " + std::to_string(device); }

void add_products(KernelSpeeds& to, const std::string& unit, const std::vector<MeasuredProduct>& products)
{
    for (const MeasuredProduct& product : products) to.set({"gemm", 'd', unit}, {size_of(product.flops), product.rate});
}
std::vector<MeasuredProduct> products_in(const KernelSpeeds& from, const std::string& unit)
{
    std::vector<MeasuredProduct> products;
    if (const auto* rows = from.find({"gemm", 'd', unit}))
        for (const auto& [bucket, speed] : *rows) products.push_back({flops_of(speed.size), speed.rate});
    return products;
}
/// 0: it is not there.
double rate_in(const KernelSpeeds& from, const std::string& what, const std::string& unit)
{
    const auto* const rows = from.find({what, 0, unit});
    return rows && !rows->empty() ? rows->begin()->second.rate : 0;
}

KernelSpeeds table_of(const MeasuredUnits& units)
{
    KernelSpeeds table;
    add_products(table, core_unit, units.core);
    for (std::size_t d = 0; d < units.devices.size(); ++d) {
        const DeviceReport& device = units.devices[d];
        const std::string unit = unit_of(d);
        add_products(table, unit, device.products);
        for (const int way : {0, 1}) table.set({ways[way], 0, unit}, {0, device.bytes_per_second[way]});
        table.set({per_second, 0, unit}, {0, 1 / device.latency});
    }
    return table;
}

/// Empty: something is missing.
MeasuredUnits units_in(const KernelSpeeds& table)
{
    MeasuredUnits units{products_in(table, core_unit), {}};
    for (std::size_t d = 0; rate_in(table, per_second, unit_of(d)) > 0; ++d) {
        const std::string unit = unit_of(d);
        DeviceReport& device = units.devices.emplace_back();
        device.products = products_in(table, unit);
        for (const int way : {0, 1}) device.bytes_per_second[way] = rate_in(table, ways[way], unit);
        device.latency = 1 / rate_in(table, per_second, unit);
        if (!(device.bytes_per_second[0] > 0 && device.bytes_per_second[1] > 0)) return {};
    }
    return units.core.empty() ? MeasuredUnits() : units;
}

} // namespace

std::optional<std::filesystem::path> kept_figures_path(const std::string& words, const std::vector<std::string>& names,
                                                       const KernelProvider& kernels)
{
    std::string whose = "devices " + words;
    for (const std::string& name : names) whose += "; " + name;
    return kernel_speeds_path(machine_at_hand().name, whose + "; " + kernels.name() + ' ' + kernels.version());
}

MeasuredUnits figures_anew(const std::string& words, const KernelProvider& kernels)
{
    const MeasuredUnits units{measure_core(kernels), survey_devices(words, kernels)};
    const int kept_errno = errno;
    std::vector<std::string> names;
    for (const DeviceReport& device : units.devices) names.push_back(device.name);
    if (const auto path = kept_figures_path(words, names, kernels)) table_of(units).write(*path);
    errno = kept_errno;
    return units;
}

MeasuredUnits figures_at_hand(const std::string& words, const std::vector<std::string>& names, const KernelProvider& kernels)
{
    const int kept_errno = errno;
    const auto path = kept_figures_path(words, names, kernels);
    MeasuredUnits units = path ? units_in(KernelSpeeds::read(*path)) : MeasuredUnits();
    errno = kept_errno;
    if (units.devices.size() == names.size()) return units;
    units = figures_anew(words, kernels);
    if (units.devices.size() == names.size()) return units;
    throw Error(ErrorCode::environment, "devices '" + words + "' were " + std::to_string(names.size()) +
                                            " when they were opened and " + std::to_string(units.devices.size()) +
                                            " when they were measured; try again");
}

} // namespace trencadis
