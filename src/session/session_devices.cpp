#include "session/session_devices.hpp"

#include "base/error.hpp"

#include <algorithm>

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

Bytes SessionDevices::least_bytes() const
{
    Bytes least = 0;
    for (const auto& device : list_) least = least > 0 ? std::min(least, device->bytes()) : device->bytes();
    return least;
}

} // namespace trencadis
