#pragma once

namespace trencadis {

class Kernels;
namespace devices {
class Device;
}

/// A device that an engine gives tasks, and what they compute with there. Both outlive the engine.
struct DeviceUnit {
    devices::Device* device;
    const Kernels* kernels;
    double bytes_per_second[2] = {0, 0}; ///< to it and from it, as measured; 0: found out on the way
};

} // namespace trencadis
