#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace trencadis {

/// Memory of a caller's that devices are to copy from and to.
struct MemorySpan {
    const void* begin;
    Bytes bytes;
};

/// While it lives what it stands for is page-locked for the devices of an engine.
class PageHold {
public:
    virtual ~PageHold() = default;
};

/// Page-locks memory of callers for devices, as far as that is possible and worth it; what is not locked is copied by way of
/// buffers that are. Any thread.
class HostPages {
public:
    /// For a call with these devices, by their number from 0, one bit each, in which so many bytes are expected to be moved.
    /// Null: nothing was locked.
    virtual std::unique_ptr<PageHold> hold(std::span<const MemorySpan> memory, Bytes moved, std::uint64_t devices) = 0;

protected:
    ~HostPages() = default;
};

} // namespace trencadis
