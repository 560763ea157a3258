#include "session/session_devices.hpp"

#include "base/error.hpp"

namespace trencadis {

std::vector<DeviceUnit> SessionDevices::open(const std::string& words, const std::string& machine, const KernelProvider& kernels)
{
    if (words.empty()) return {};
    if (!machine.empty())
        throw Error(ErrorCode::bad_argument, "devices '" + words + "' are of this machine, and machine '" + machine +
                                                 "' is laid over it; leave out the one or the other");
    list_ = devices::open_devices(words);
    std::vector<DeviceUnit> units;
    for (const auto& device : list_) {
        kernels_.push_back(kernels_on(device->kernels(), kernels));
        units.push_back({device.get(), kernels_.back().get()});
    }
    return units;
}

} // namespace trencadis
