#pragma once
#include "devices/page_locks.hpp"
#include "engines/devices/device_unit.hpp"
#include "engines/host_pages.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace trencadis {

/// The host's memory as far as it is page-locked for some devices: one list for those that have it in common. Locking a call's
/// memory costs time for each byte of it, and saves a copy in the host's memory for each byte that is moved; both are measured
/// once, when the first call asks. Any thread.
class DevicePages final : public HostPages {
public:
    explicit DevicePages(std::span<const DeviceUnit> units);
    ~DevicePages();

    std::unique_ptr<PageHold> hold(std::span<const MemorySpan> memory, Bytes moved, std::uint64_t devices) override;
    /// Whether it pays or not: of what is moved from call to call. Null: it could not be.
    std::unique_ptr<PageHold> hold_for_long(const MemorySpan& memory);
    devices::PageLocks* of(int device) const { return groups_of_[std::size_t(device)]; } ///< null: locking gains nothing

private:
    struct Group;
    class Held;
    std::unique_ptr<PageHold> hold(std::span<const MemorySpan> memory, std::span<Group* const> groups) const;

    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<devices::PageLocks*> groups_of_; ///< by device
};

} // namespace trencadis
