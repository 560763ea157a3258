#include "engines/devices/device_pages.hpp"

#include "devices/device.hpp"
#include "engines/devices/copy_crew.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace trencadis {
namespace {

/// What is locked is taken from everybody else in the machine.
double most_to_lock()
{
    static const double half = 0.5 * double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
    return half;
}

} // namespace

/// Devices for which one of them, which is not lost, locks.
struct DevicePages::Group {
    const void* common;
    std::vector<devices::Device*> devices = {};
    std::uint64_t members = 0; ///< one bit each
    devices::PageLocks locks;
    std::once_flag tried;
    Seconds lock_time = 0, copy_time = 0; ///< of a byte; after `tried`

    explicit Group(const void* what)
        : common(what), locks({[this](void* memory, std::size_t bytes) { return lock(memory, bytes); },
                               [this](void* memory) { return locker()->unlock_pages(memory); }},
                              what)
    {
    }
    /// The first one, as long as it is there: as it was locked, it is unlocked.
    devices::Device* locker() const { return devices.front(); }
    devices::Status lock(void* memory, std::size_t bytes) const { return locker()->lock_pages(memory, bytes); }
    void try_out();
    bool pays(Bytes bytes, Bytes moved)
    {
        std::call_once(tried, [this] { try_out(); });
        return moved * copy_time > bytes * lock_time;
    }
};

/// The best of some: a neighbour that comes by would be believed for good. Where it cannot be locked just now, locking counts as
/// costing nothing, so that calls try.
void DevicePages::Group::try_out()
{
    constexpr std::size_t bytes = std::size_t(16) << 20; // of less, locking costs more for each byte than of a matrix
    CopyCrew crew(CopyCrew::usual());
    const auto here = std::make_unique_for_overwrite<char[]>(bytes), there = std::make_unique_for_overwrite<char[]>(bytes);
    std::memset(here.get(), 1, bytes); // their pages are there, by a call that sanitizers do not follow byte by byte
    std::memset(there.get(), 1, bytes);
    lock_time = copy_time = 1;
    for (int times = 0; times < 3; ++times) {
        const std::int64_t begin = now_ns();
        crew.copy({there.get(), bytes}, {here.get(), bytes}, {bytes});
        const std::int64_t copied = now_ns();
        const bool locked = lock(there.get(), bytes).ok();
        if (locked) (void)locker()->unlock_pages(there.get());
        const std::int64_t ended = now_ns();
        copy_time = std::min(copy_time, double(copied - begin) * 1e-9 / bytes);
        lock_time = std::min(lock_time, locked ? double(ended - copied) * 1e-9 / bytes : 0);
    }
}

class DevicePages::Held final : public PageHold {
public:
    explicit Held(std::vector<devices::PageLocks::Hold> holds) : holds_(std::move(holds)) {}

private:
    std::vector<devices::PageLocks::Hold> holds_;
};

DevicePages::DevicePages(std::span<const DeviceUnit> units)
{
    for (const DeviceUnit& unit : units) {
        const void* const common = unit.device->locks_for();
        auto group = std::ranges::find(groups_, common, [](const auto& one) { return one->common; });
        if (common && group == groups_.end()) group = groups_.insert(group, std::make_unique<Group>(common));
        if (common) {
            (*group)->devices.push_back(unit.device);
            (*group)->members |= std::uint64_t(1) << groups_of_.size();
        }
        groups_of_.push_back(common ? &(*group)->locks : nullptr);
    }
}

DevicePages::~DevicePages() = default;

/// What cannot be locked is left out.
std::unique_ptr<PageHold> DevicePages::hold(std::span<const MemorySpan> memory, std::span<Group* const> groups) const
{
    std::vector<devices::PageLocks::Hold> holds;
    for (Group* const group : groups)
        for (const MemorySpan& span : memory) {
            if (double(group->locks.bytes()) + span.bytes > most_to_lock()) continue;
            devices::PageLocks::Hold hold;
            if (group->locks.hold(span.begin, static_cast<std::size_t>(span.bytes), hold).ok()) holds.push_back(std::move(hold));
        }
    return holds.empty() ? nullptr : std::make_unique<Held>(std::move(holds));
}

std::unique_ptr<PageHold> DevicePages::hold(std::span<const MemorySpan> memory, Bytes moved, std::uint64_t devices)
{
    Bytes bytes = 0;
    for (const MemorySpan& span : memory) bytes += span.bytes;
    std::vector<Group*> groups;
    for (const auto& group : groups_)
        if ((group->members & devices) && group->pays(bytes, moved)) groups.push_back(group.get());
    return hold(memory, groups);
}

std::unique_ptr<PageHold> DevicePages::hold_for_long(const MemorySpan& memory)
{
    std::vector<Group*> groups;
    for (const auto& group : groups_) groups.push_back(group.get());
    return hold({&memory, 1}, groups);
}

} // namespace trencadis
