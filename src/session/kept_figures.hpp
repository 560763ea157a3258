#pragma once
#include "session/device_survey.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

/// What was measured of a core and of the devices that some words name.
struct MeasuredUnits {
    MeasuredCore core;
    std::vector<DeviceReport> devices;
};

/// Where the figures of a device of this model (Device::model), or of a "core", are kept, beside the speeds of kernels: whatever
/// its number is, and for the kernels that compute. None where there is no cache folder.
std::optional<std::filesystem::path> kept_figures_path(const std::string& model, const KernelProvider& kernels);
/// Of the devices of these models that the words name, in their order. Measured once, and kept there; anew, all of them, where
/// one is not known or its file is torn. Devices of one model share what was measured of the first of them. Throws as
/// survey_devices.
MeasuredUnits figures_at_hand(const std::string& words, const std::vector<std::string>& models, const KernelProvider& kernels);
/// Measured now, and kept.
MeasuredUnits figures_anew(const std::string& words, const KernelProvider& kernels, const SurveyBounds& bounds = {});

} // namespace trencadis
