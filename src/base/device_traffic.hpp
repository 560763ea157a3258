#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <string>

namespace trencadis {

/// What went to a device and came from it, and how its software cache did.
struct DeviceTraffic {
    std::string device;
    Bytes to = 0, from = 0;
    std::int64_t hits = 0;   ///< operands that were there, or on their way
    std::int64_t misses = 0; ///< operands that had to be fetched
    std::int64_t evictions = 0;
};

} // namespace trencadis
