#pragma once
#include "devices/device.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace trencadis::devices {

/// Which memory of the host is page-locked, for emulated devices: kept as a list, nothing is locked. Any thread.
class LockedPages {
public:
    /// Of callers' memory so many bytes at most, as a system's limit; the lock of this number, from 1, fails; 0: none does.
    explicit LockedPages(std::size_t most = SIZE_MAX, long fail_at = 0) : most_(most), fail_at_(fail_at) {}
    ~LockedPages();
    LockedPages(const LockedPages&) = delete;
    LockedPages& operator=(const LockedPages&) = delete;

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

    const std::size_t most_;
    const long fail_at_;
    mutable std::mutex mutex_;
    std::size_t callers_bytes_ = 0;
    long locks_ = 0;
    Ranges ranges_; ///< none overlaps another
};

} // namespace trencadis::devices
