#include "engines/devices/device_driver.hpp"

#include "engines/devices/device_context.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace trencadis {

using devices::Queue;
using devices::Status;

DeviceDriver::DeviceDriver(DeviceUnit unit, devices::PageLocks* locks, std::function<void()> wake)
    : unit_(unit), locks_(locks), wake_(std::move(wake))
{
}

/// The completions before an event have returned when it is reached.
DeviceDriver::~DeviceDriver()
{
    finish();
    for (const auto& [number, block] : blocks_) (void)unit_.device->release(block);
}

void DeviceDriver::finish() const
{
    for (const Queue queue : {Queue::in, Queue::kernels, Queue::out}) (void)unit_.device->wait(unit_.device->mark(queue));
}

DeviceDriver::Begun& DeviceDriver::begin(Queue queue)
{
    Begun& begun = begun_[static_cast<std::size_t>(queue)].emplace_back();
    begun.begin_ns = now_ns();
    return begun;
}

/// When what was enqueued before has ended; also where it could not be enqueued, or not wholly.
void DeviceDriver::end(Queue queue, Begun& begun, Status status)
{
    begun.status = std::move(status);
    begun.event = unit_.device->mark(queue, [this, &begun](const Status& how) {
        begun.end_ns = now_ns();
        if (begun.status.ok()) begun.status = begun.pieces.ok() ? how : begun.pieces;
        begun.ended.store(true, std::memory_order_release);
        wake_();
    });
}

Status DeviceDriver::find(BlockId block, Bytes bytes, void*& place)
{
    if ((place = place_of(block))) return {};
    devices::Block fresh = nullptr;
    Status status = unit_.device->allocate(static_cast<std::size_t>(bytes), fresh);
    if (!status.ok()) return status;
    const std::lock_guard lock(blocks_mutex_);
    blocks_.emplace(block, place = fresh);
    return status;
}

devices::Block DeviceDriver::place_of(BlockId block) const
{
    const std::lock_guard lock(blocks_mutex_);
    const auto known = blocks_.find(block);
    return known == blocks_.end() ? nullptr : known->second;
}

void DeviceDriver::give_up(BlockId block)
{
    devices::Block const known = place_of(block);
    if (!known) return; // one that was never used
    (void)unit_.device->release(known);
    const std::lock_guard lock(blocks_mutex_);
    blocks_.erase(block);
}

namespace {

/// Opaque data are one column.
devices::Extent extent_of(const Transfer& transfer)
{
    const DatumShape& shape = transfer.shape;
    if (!shape.element) return {static_cast<std::size_t>(transfer.bytes)};
    return {std::size_t(shape.rows) * std::size_t(shape.element), std::size_t(shape.cols)};
}
std::size_t pitch_of(const Transfer& transfer, Index ld) { return std::size_t(ld) * std::size_t(transfer.shape.element); }

} // namespace

/// Of an end of a transfer in this device's memory: a block, or the datum's own memory where it is at home here.
Status DeviceDriver::place_at(BlockId block, const Transfer& transfer, void*& place)
{
    if (block != home_memory) return find(block, transfer.bytes, place);
    place = const_cast<void*>(transfer.data);
    return {};
}

void DeviceDriver::copy(Queue queue, const Transfer& transfer, void* host)
{
    const bool in = queue == Queue::in;
    Begun& begun = begin(queue);
    begun.transfer = transfer;
    void* place = nullptr;
    Status status = place_at(in ? transfer.to_block : transfer.from_block, transfer, place);
    if (status.ok()) {
        const std::size_t from = pitch_of(transfer, transfer.from_ld()), to = pitch_of(transfer, transfer.to_ld());
        status = copy(queue, begun, {host, in ? from : to}, {place, in ? to : from}, extent_of(transfer));
    }
    end(queue, begun, std::move(status));
    if (begun.staged) staging_->sealed(queue, begun.event);
}

/// As it lies where that is page-locked, or where there is no page-locked memory for what is not.
Status DeviceDriver::copy(Queue queue, Begun& begun, devices::HostPlace home, devices::DevicePlace there, devices::Extent extent)
{
    const bool in = queue == Queue::in;
    if (locks_) {
        begun.hold = locks_->hold_if_locked(home.at, (extent.columns - 1) * home.pitch + extent.bytes);
        if (!staging_ && !begun.hold) staging_ = std::make_unique<Staging>(*unit_.device);
    }
    if (!locks_ || begun.hold || !staging_->has_room(queue, extent))
        return in ? unit_.device->copy_in(home, there, extent) : unit_.device->copy_out(there, home, extent);
    staged_.store(staged_.load(std::memory_order_relaxed) + double(extent.bytes) * double(extent.columns),
                  std::memory_order_relaxed);
    const devices::Completion piece_ended = [&begun](const Status& how) {
        if (begun.pieces.ok()) begun.pieces = how;
    };
    begun.staged = true;
    begun.lands = !in;
    return in ? staging_->copy_in(home, there, extent, piece_ended) : staging_->copy_out(there, home, extent, piece_ended);
}

void DeviceDriver::copy_array(Queue queue, devices::HostPlace host, devices::DevicePlace array, devices::Extent extent,
                              ArrayOrder* order)
{
    Begun& begun = begin(queue);
    begun.order = order;
    end(queue, begun, copy(queue, begun, host, array, extent));
    if (begun.staged) staging_->sealed(queue, begun.event);
}

bool DeviceDriver::copy_within(devices::DevicePlace from, devices::DevicePlace to, devices::Extent extent, ArrayOrder* order)
{
    Status status = unit_.device->copy_from(*unit_.device, from, to, extent);
    if (status.fault == devices::Fault::bad_argument) return false;
    Begun& begun = begin(Queue::in);
    begun.order = order;
    end(Queue::in, begun, std::move(status));
    return true;
}

void DeviceDriver::copy_across(const DeviceDriver& from, const Transfer& transfer)
{
    Begun& begun = begin(Queue::in);
    begun.transfer = transfer;
    void* place = nullptr;
    Status status = place_at(transfer.to_block, transfer, place);
    void* const there =
        transfer.from_block == home_memory ? const_cast<void*>(transfer.data) : from.place_of(transfer.from_block);
    if (status.ok())
        status = unit_.device->copy_from(*from.unit_.device, {there, pitch_of(transfer, transfer.from_ld())},
                                         {place, pitch_of(transfer, transfer.to_ld())}, extent_of(transfer));
    end(Queue::in, begun, std::move(status));
}

void DeviceDriver::copy_in(const Transfer& transfer, void* host) { copy(Queue::in, transfer, host); }
void DeviceDriver::copy_out(const Transfer& transfer, void* host) { copy(Queue::out, transfer, host); }

void DeviceDriver::run(Task& task, std::vector<Operand> operands, WorkerId worker, const std::function<void()>& relief)
{
    Begun& begun = begin(Queue::kernels);
    begun.task = &task;
    KernelQueue& kernels = unit_.device->kernels();
    const std::uint64_t before = kernels.asked();
    unit_.device->relieved_by(&relief);
    try {
        SharedWork work;
        Team team(work);
        DeviceContext context(task, team, std::move(operands), unit_.kernels, worker);
        task.codelet->device(task.args, context);
    } catch (...) {
        begun.thrown = std::current_exception();
    }
    unit_.device->relieved_by(nullptr);
    begun.touched = kernels.asked() != before;
    end(Queue::kernels, begun, {});
}

std::int64_t DeviceDriver::nothing_new_before() const
{
    std::int64_t earliest = now_ns();
    for (std::size_t queue = 0; queue < begun_.size(); ++queue)
        if (!begun_[queue].empty()) earliest = std::min(earliest, std::max(begun_[queue].front().begin_ns, last_ns_[queue]));
    return earliest;
}

void DeviceDriver::land()
{
    for (Begun& begun : begun_[static_cast<std::size_t>(Queue::out)]) {
        if (!begun.ended.load(std::memory_order_acquire)) break;
        if (std::exchange(begun.lands, false)) staging_->land(begun.event);
    }
}

std::vector<DeviceDriver::Ended> DeviceDriver::take_ended()
{
    std::vector<Ended> ended;
    for (std::size_t queue = 0; queue < begun_.size(); ++queue) {
        std::deque<Begun>& begun = begun_[queue];
        while (!begun.empty() && begun.front().ended.load(std::memory_order_acquire) && !begun.front().lands) {
            Ended& one = begun.front();
            one.begin_ns = std::max(one.begin_ns, std::exchange(last_ns_[queue], one.end_ns));
            ended.push_back(std::move(one));
            begun.pop_front();
        }
    }
    return ended;
}

} // namespace trencadis
