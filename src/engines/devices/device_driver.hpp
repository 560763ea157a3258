#pragma once
#include "devices/device.hpp"
#include "devices/page_locks.hpp"
#include "engines/devices/device_unit.hpp"
#include "engines/devices/staging.hpp"
#include "graph/task.hpp"
#include "graph/unit.hpp"
#include "memory/plan.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace trencadis {

struct ArrayOrder;

/// One device as its worker drives it: blocks of its memory by their number, copies, kernels, and what of that has ended. By one
/// thread but for `wake`; knows nothing of where data are.
class DeviceDriver {
public:
    /// What was begun and has ended.
    struct Ended {
        Task* task = nullptr;        ///< a kernel; none: a transfer
        ArrayOrder* order = nullptr; ///< or what somebody has asked for, whom the engine knows
        Transfer transfer = {};
        devices::Status status = {};
        std::exception_ptr thrown = {}; ///< by the body that enqueued
        bool touched = false;           ///< it has asked for kernels, so that what it writes may be half done where it failed
        std::int64_t begin_ns = 0, end_ns = 0;
    };

    /// `wake`: something has ended. Any thread, at any time until the driver is gone. `locks`: memory of the host that is
    /// page-locked for the device; what is not is copied by way of buffers that are. Null: all is copied as it lies.
    DeviceDriver(DeviceUnit unit, devices::PageLocks* locks, std::function<void()> wake);
    ~DeviceDriver(); ///< waits for what was begun, and gives the device's memory back
    DeviceDriver(const DeviceDriver&) = delete;
    DeviceDriver& operator=(const DeviceDriver&) = delete;

    const DeviceUnit& unit() const { return unit_; }
    /// `host`: the other end, which has the distance of the columns that the transfer says.
    void copy_in(const Transfer& transfer, void* host);
    void copy_out(const Transfer& transfer, void* host);
    /// Between the host and an array of somebody's, who is told of `order` when it has ended.
    void copy_array(devices::Queue queue, devices::HostPlace host, devices::DevicePlace array, devices::Extent extent,
                    ArrayOrder* order);
    /// Likewise from one array to another. False: the device cannot, and nothing was begun.
    bool copy_within(devices::DevicePlace from, devices::DevicePlace to, devices::Extent extent, ArrayOrder* order);
    /// From the memory of another, which keeps the block until this has ended.
    void copy_across(const DeviceDriver& from, const Transfer& transfer);
    bool reaches(const DeviceDriver& other) const { return unit_.device->reaches(*other.unit_.device); }
    bool knows(BlockId block) const { return place_of(block); }
    /// Where the block is, from its first use on, which asks the device for memory.
    devices::Status find(BlockId block, Bytes bytes, void*& place);
    void give_up(BlockId block);
    Bytes bytes() const { return unit_.device->used(); } ///< of all blocks
    /// Has the task's body enqueue its kernels on operands that are there. `relief`: Device::relieved_by.
    void run(Task& task, std::vector<Operand> operands, WorkerId worker, const std::function<void()>& relief);
    /// Brings what has come by way of buffers to where it goes; before that nothing of it is told by take_ended.
    void land();
    std::vector<Ended> take_ended();
    Bytes staged() const { return staged_.load(std::memory_order_relaxed); } ///< went by way of buffers. Any thread
    /// Whatever is told of from now on began later than that.
    std::int64_t nothing_new_before() const;
    void finish() const; ///< returns when what was begun has ended
    std::size_t in_flight(devices::Queue queue) const { return begun_[static_cast<std::size_t>(queue)].size(); }

private:
    struct Begun : Ended {
        devices::Event event = {};
        devices::PageLocks::Hold hold = {}; ///< of the host's end
        devices::Status pieces = {};        ///< how those but the last went; written by completions alone
        bool staged = false;                ///< goes by way of buffers
        bool lands = false;                 ///< likewise, from the device, and is not yet where it goes
        std::atomic<bool> ended{false};
    };
    Begun& begin(devices::Queue queue);
    void end(devices::Queue queue, Begun& begun, devices::Status status);
    void copy(devices::Queue queue, const Transfer& transfer, void* host);
    devices::Status place_at(BlockId block, const Transfer& transfer, void*& place);
    devices::Status copy(devices::Queue queue, Begun& begun, devices::HostPlace home, devices::DevicePlace there,
                         devices::Extent extent);

    const DeviceUnit unit_;
    devices::PageLocks* const locks_;
    const std::function<void()> wake_;
    devices::Block place_of(BlockId block) const; ///< null: it has no memory. Any thread

    mutable std::mutex blocks_mutex_; ///< of what follows, which others ask where they copy from here
    std::unordered_map<BlockId, devices::Block> blocks_;
    std::array<std::deque<Begun>, devices::queues> begun_; ///< in the order of the queue, in which they end
    std::array<std::int64_t, devices::queues> last_ns_{};  ///< when the last one that was taken ended
    std::unique_ptr<Staging> staging_;                     ///< from its first use on
    std::atomic<double> staged_{0};                        ///< written by the worker
};

} // namespace trencadis
