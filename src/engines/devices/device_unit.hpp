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
};

} // namespace trencadis
