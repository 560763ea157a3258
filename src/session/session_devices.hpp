#pragma once
#include "devices/backend.hpp"
#include "engines/devices/device_unit.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <memory>
#include <string>
#include <vector>

namespace trencadis {

/// The devices of a session, and what each computes with.
class SessionDevices {
public:
    /// Once. Throws as devices::open_devices, and where a machine is laid over this one.
    std::vector<DeviceUnit> open(const std::string& words, const std::string& machine, const KernelProvider& kernels);
    const std::string& name(std::size_t device) const { return list_[device]->name(); }
    int count() const { return static_cast<int>(list_.size()); }
    Bytes least_bytes() const; ///< memory of the smallest; 0: there is none

private:
    devices::DeviceList list_;
    std::vector<std::unique_ptr<const DeviceKernels>> kernels_; ///< by device; gone before it
};

} // namespace trencadis
