#pragma once
#include "session/device_survey.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

/// What was measured of a core and of the devices that some words name.
struct MeasuredUnits {
    std::vector<MeasuredProduct> core;
    std::vector<DeviceReport> devices;
};

/// Where the figures of these devices are kept, beside the speeds of kernels: one file for each text of words, for the devices of
/// these names that it has meant, and for the kernels that compute. None where there is no cache folder.
std::optional<std::filesystem::path> kept_figures_path(const std::string& words, const std::vector<std::string>& names,
                                                       const KernelProvider& kernels);
/// Measured once, and kept there; anew where the file is gone or torn. One report for each name. Throws as survey_devices.
MeasuredUnits figures_at_hand(const std::string& words, const std::vector<std::string>& names, const KernelProvider& kernels);
/// Measured now, and kept.
MeasuredUnits figures_anew(const std::string& words, const KernelProvider& kernels);

} // namespace trencadis
