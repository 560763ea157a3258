#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <string>

namespace trencadis {

/// What went to a device and came from it, and how its software cache did.
struct DeviceTraffic {
    std::string device;
    Bytes to = 0, from = 0;  ///< the host's memory
    std::int64_t hits = 0;   ///< operands that were there, or on their way
    std::int64_t misses = 0; ///< operands that had to be fetched
    std::int64_t evictions = 0;
    Bytes peak = 0;         ///< most that its copies took at once
    Seconds copying = 0;    ///< with a copy going on, one way or both
    Seconds computing = 0;  ///< with a kernel going on
    Seconds together = 0;   ///< with both
    Bytes across = 0;       ///< came from other devices directly
    Bytes staged = 0;       ///< of what was moved: by way of buffers, since the host's end was not page-locked
    std::string fault = {}; ///< why it takes no more tasks; empty: it does

    /// Of the shorter of copies and kernels, the part during which the others went on; 0 where there were none.
    double overlap() const
    {
        const Seconds shorter = copying < computing ? copying : computing;
        return shorter > 0 ? together / shorter : 0;
    }
};

} // namespace trencadis
