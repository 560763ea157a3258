#pragma once
#include "devices/device.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace trencadis::devices {

/// Which memory of the host is page-locked, for an emulated device: kept as a list, nothing is locked. Any thread.
class LockedPages {
public:
    ~LockedPages();
    Status allocate(std::size_t bytes, void*& memory);
    Status free(void* memory);
    Status lock(void* memory, std::size_t bytes);
    Status unlock(void* memory);
    bool covers(const void* memory, std::size_t bytes) const;

private:
    struct Range {
        std::size_t bytes;
        bool ours; ///< memory of `allocate`
    };
    using Ranges = std::map<std::uintptr_t, Range>;
    Status add(void* memory, std::size_t bytes, bool ours);
    Status remove(void* memory, bool ours);

    mutable std::mutex mutex_;
    Ranges ranges_; ///< none overlaps another
};

} // namespace trencadis::devices
