#include "devices/emulated/device.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <utility>

namespace trencadis::devices {
namespace {

/// Bytes from the first column's beginning to the last one's end.
std::size_t span_of(std::size_t pitch, Extent extent) { return (extent.columns - 1) * pitch + extent.bytes; }

Status bad(std::string what) { return {Fault::bad_argument, std::move(what)}; }

Status lost_device(const std::string& name) { return {Fault::lost, name + " was lost"}; }

} // namespace

EmulatedDevice::EmulatedDevice(EmulatedTraits traits)
    : traits_(std::move(traits)), memory_(traits_.memory),
      locked_(traits_.locked ? traits_.locked : std::make_shared<LockedPages>())
{
    constexpr const char* names[] = {"trc-dev-in", "trc-dev-kernels", "trc-dev-out"};
    for (int q = 0; q < queues; ++q) queues_[std::size_t(q)] = std::make_unique<WorkQueue>(names[q], lost_);
}

/// One queue may hold for another: all have ended before any goes.
EmulatedDevice::~EmulatedDevice()
{
    for (const auto& queue : queues_)
        if (const Status status = queue->wait(queue->mark({})); !status.ok()) continue; // nobody is left to be told
}

/// Counts one, and says whether it is the one that is to fail.
Status EmulatedDevice::strike(std::atomic<long>& counter, long at, Fault fault, const char* what)
{
    return strike(counter.fetch_add(1, std::memory_order_relaxed) + 1, at, fault, what);
}

Status EmulatedDevice::strike(long count, long at, Fault fault, const char* what) const
{
    if (count != at) return {};
    return {fault, fmt::format("{} number {} of {} failed, as it was told to", what, count, traits_.name)};
}

Status EmulatedDevice::strike_copy()
{
    const long count = copies_.fetch_add(1, std::memory_order_relaxed) + 1, full = traits_.full_copy;
    if (full > 0 && count >= full && count - full < traits_.full_copies)
        return {Fault::out_of_memory, fmt::format("copy number {} of {} found none, as it was told to", count, traits_.name)};
    return strike(count, traits_.fail_copy, Fault::copy, "copy");
}

Status EmulatedDevice::allocate(std::size_t bytes, Block& block)
{
    if (lost()) return lost_device(traits_.name);
    if (Status struck = strike(allocations_, traits_.fail_allocation, Fault::out_of_memory, "allocation"); !struck.ok())
        return struck;
    return memory_.allocate(bytes, block);
}

/// Addresses of its blocks are all that it has.
Status EmulatedDevice::adopt(void* memory, std::size_t bytes, Block& block)
{
    if (lost()) return lost_device(traits_.name);
    if (!memory_.behind(memory, bytes))
        return bad(fmt::format("{} bytes from {} on are in no memory of {}", bytes, memory, traits_.name));
    block = memory;
    return {};
}

// ---- copies

Status EmulatedDevice::inside(DevicePlace place, Extent extent, Columns& columns) const
{
    if (extent.columns == 0 || extent.bytes == 0) return bad("a copy of 0 bytes");
    if (extent.columns > 1 && place.pitch < extent.bytes)
        return bad(fmt::format("columns of {} bytes cannot lie {} bytes apart", extent.bytes, place.pitch));
    columns = {memory_.behind(place.block, span_of(place.pitch, extent)), place.pitch};
    if (columns.at) return {};
    return bad(fmt::format("{} columns of {} bytes, {} apart, from {} on are in no block of {}", extent.columns, extent.bytes,
                           place.pitch, place.block, traits_.name));
}

double EmulatedDevice::bandwidth_to(HostPlace host, Extent extent) const
{
    return locked_->covers(host.at, span_of(host.pitch, extent)) ? traits_.bandwidth : traits_.bandwidth * traits_.pageable;
}

/// `other`: whose memory it reads, where that is another device's; it may be lost until the copy begins.
Status EmulatedDevice::copy(Queue to_queue, Columns from, Columns to, Extent extent, double bandwidth,
                            const EmulatedDevice* other)
{
    if (lost()) return lost_device(traits_.name);
    const double bytes = double(extent.bytes) * double(extent.columns);
    const Seconds least = traits_.latency + (bandwidth > 0 ? bytes / bandwidth : 0);
    queue(to_queue).add(least, [this, from, to, extent, other] {
        if (strike(works_, traits_.lose_at, Fault::lost, "").fault == Fault::lost) lose();
        if (lost()) return lost_device(traits_.name);
        if (other && other->lost()) return lost_device(other->name());
        if (Status struck = strike_copy(); !struck.ok()) return struck;
        for (std::size_t column = 0; column < extent.columns; ++column)
            std::memcpy(to.at + column * to.pitch, from.at + column * from.pitch, extent.bytes);
        return Status{};
    });
    return {};
}

Status EmulatedDevice::copy_in(HostPlace from, DevicePlace to, Extent extent)
{
    Columns there{};
    if (Status status = inside(to, extent, there); !status.ok()) return status;
    if (!from.at || (extent.columns > 1 && from.pitch < extent.bytes)) return bad("the host's end of a copy is none");
    return copy(Queue::in, {static_cast<char*>(from.at), from.pitch}, there, extent, bandwidth_to(from, extent));
}

Status EmulatedDevice::copy_out(DevicePlace from, HostPlace to, Extent extent)
{
    Columns there{};
    if (Status status = inside(from, extent, there); !status.ok()) return status;
    if (!to.at || (extent.columns > 1 && to.pitch < extent.bytes)) return bad("the host's end of a copy is none");
    return copy(Queue::out, there, {static_cast<char*>(to.at), to.pitch}, extent, bandwidth_to(to, extent));
}

bool EmulatedDevice::reaches(const Device& other) const
{
    const auto* const emulated = dynamic_cast<const EmulatedDevice*>(&other);
    return emulated && emulated != this && traits_.direct && emulated->traits_.direct;
}

Status EmulatedDevice::copy_from(Device& other, DevicePlace from, DevicePlace to, Extent extent)
{
    if (&other != this && !reaches(other)) return bad(fmt::format("{} does not reach {}", traits_.name, other.name()));
    Columns here{}, there{};
    if (Status status = inside(to, extent, here); !status.ok()) return status;
    if (Status status = static_cast<EmulatedDevice&>(other).inside(from, extent, there); !status.ok()) return status;
    if (other.lost()) return lost_device(other.name());
    return copy(Queue::in, there, here, extent, traits_.bandwidth,
                &other == this ? nullptr : static_cast<EmulatedDevice*>(&other));
}

// ---- kernels

void EmulatedDevice::enqueue(Flops flops, Body body)
{
    note_asked();
    const Seconds least = traits_.speed > 0 ? flops / traits_.speed : 0;
    queue(Queue::kernels).add(least, [this, body = std::move(body)]() -> Status {
        if (strike(works_, traits_.lose_at, Fault::lost, "").fault == Fault::lost) lose();
        if (lost()) return lost_device(traits_.name);
        if (Status struck = strike(kernels_, traits_.fail_kernel, Fault::kernel, "kernel"); !struck.ok()) return struck;
        try {
            body(memory_);
        } catch (const std::exception& failure) {
            return {Fault::kernel, failure.what()};
        }
        return {};
    });
}

// ---- events

bool EmulatedDevice::owns(const Event& event) const
{
    return event.device == this && static_cast<int>(event.queue) < queues && queue(event.queue).knows(event.number);
}

Event EmulatedDevice::mark(Queue which, Completion done) { return {this, which, queue(which).mark(std::move(done))}; }

Status EmulatedDevice::hold(Queue which, const Event& event)
{
    const auto* const theirs = dynamic_cast<const EmulatedDevice*>(event.device);
    if (!theirs || !theirs->owns(event)) return bad("an event that no emulated device has");
    if (theirs != this || event.queue != which) queue(which).hold(theirs->queue(event.queue), event.number);
    return {};
}

bool EmulatedDevice::reached(const Event& event) const { return owns(event) && queue(event.queue).reached(event.number); }

Status EmulatedDevice::wait(const Event& event) const
{
    if (!owns(event)) return bad("an event that this device does not have");
    return queue(event.queue).wait(event.number);
}

} // namespace trencadis::devices
