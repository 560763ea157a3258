#pragma once
#include "base/error.hpp"

namespace trencadis {

/// A device's failure in the middle of a call: what is out of memory is the device, and what the call writes may be half done.
class DeviceError final : public Error {
public:
    using Error::Error;
};

/// Is it one, or one of the environment's, after which cores may try again or the caller is told?
inline bool is_of_devices(const Error& failure)
{
    return failure.code() == ErrorCode::environment || dynamic_cast<const DeviceError*>(&failure);
}

} // namespace trencadis
