#include "observe/energy/meters.hpp"

#include <array>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

// NVIDIA's devices through NVML, which is opened at run time: the driver brings it, and nobody needs it to build.

namespace trencadis::meters {

namespace {

using Device = void*;

/// nvmlPciInfo_t, as its published interface has it.
struct PciInfo {
    char old_address[16] = {};
    unsigned domain = 0, bus = 0, device = 0, numbers = 0, subsystem = 0;
    char address[32] = {};
};

struct Nvml {
    int (*init)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*device)(unsigned, Device*) = nullptr;
    int (*name)(Device, char*, unsigned) = nullptr;
    int (*energy)(Device, unsigned long long*) = nullptr; ///< millijoules since the driver was loaded
    int (*power)(Device, unsigned*) = nullptr;            ///< milliwatts
    int (*place)(Device, PciInfo*) = nullptr;
};

/// "00000000:01:00.0" -> "0000:01:00.0", as Linux writes it; empty where it is not known.
std::string address_of(const Nvml& nvml, Device device)
{
    PciInfo info;
    if (!nvml.place || nvml.place(device, &info) != 0) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device);
}

/// Stays loaded: its threads may live until the process ends.
std::optional<Nvml> opened(const std::string& library)
{
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return {};
    Nvml nvml;
    const auto take = [&](auto& function, const char* symbol) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
        return function != nullptr;
    };
    const bool whole = take(nvml.init, "nvmlInit_v2") && take(nvml.count, "nvmlDeviceGetCount_v2") &&
                       take(nvml.device, "nvmlDeviceGetHandleByIndex_v2") && take(nvml.name, "nvmlDeviceGetName") &&
                       take(nvml.power, "nvmlDeviceGetPowerUsage");
    take(nvml.energy, "nvmlDeviceGetTotalEnergyConsumption"); // not of devices before Volta
    take(nvml.place, "nvmlDeviceGetPciInfo_v3");
    return whole ? std::optional(nvml) : std::nullopt;
}

class NvmlMeter final : public Meter {
public:
    NvmlMeter(const Nvml& nvml, Device device) : nvml_(nvml), device_(device)
    {
        unsigned long long millijoules = 0;
        kind = nvml_.energy && nvml_.energy(device_, &millijoules) == 0 ? MeterKind::energy : MeterKind::power;
    }
    std::optional<double> read() override
    {
        unsigned long long millijoules = 0;
        unsigned milliwatts = 0;
        if (kind == MeterKind::energy)
            return nvml_.energy(device_, &millijoules) == 0 ? std::optional(double(millijoules) * 1e-3) : std::nullopt;
        return nvml_.power(device_, &milliwatts) == 0 ? std::optional(milliwatts * 1e-3) : std::nullopt;
    }

private:
    Nvml nvml_;
    Device device_;
};

} // namespace

void find_nvml(const MeterPlaces& places, FoundMeters& found)
{
    const auto nvml = opened(places.nvml);
    unsigned count = 0;
    if (!nvml) return;
    if (nvml->init() != 0 || nvml->count(&count) != 0) {
        found.missing.push_back({"nvml", places.nvml, "opens and finds no driver"});
        return;
    }
    for (unsigned number = 0; number < count; ++number) {
        Device device = nullptr;
        std::array<char, 96> name{};
        if (nvml->device(number, &device) != 0) {
            found.missing.push_back({"nvml", fmt::format("device {}", number), "cannot be had", "device"});
            continue;
        }
        nvml->name(device, name.data(), unsigned(name.size()) - 1);
        auto meter = std::make_unique<NvmlMeter>(*nvml, device);
        meter->source = "nvml";
        meter->domain = "device";
        meter->name = fmt::format("{}:{}", name.data(), number);
        meter->where = places.nvml;
        meter->device = address_of(*nvml, device);
        if (meter->read()) found.meters.push_back(std::move(meter));
        else found.missing.push_back({"nvml", meter->name, "says neither its energy nor its power", "device"});
    }
}

} // namespace trencadis::meters
