#pragma once
#include "devices/emulated/address_space.hpp"
#include "devices/emulated/work_queue.hpp"
#include "devices/locked_pages.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace trencadis::devices {

/// What an emulated device is like. Times are at least these: threads of the host do the work.
struct EmulatedTraits {
    std::string name = "emulated 0", model = "emulated";
    std::size_t memory = 256u << 20;
    double bandwidth = 0;  ///< bytes per second in each direction; 0: the host's
    Seconds latency = 0;   ///< of each copy
    double speed = 0;      ///< flops per second; 0: the host's
    double pageable = 0.5; ///< part of the bandwidth that is left where the host's memory is not page-locked
    bool factors = false;  ///< has Cholesky's factorization of a tile
    bool direct = false;   ///< copies from and to others of its kind
    /// What is page-locked, of all devices that were opened together; null: a list of its own.
    std::shared_ptr<LockedPages> locked = {};

    // Of each sort of work the one of this number, from 1, fails; 0: none.
    long fail_allocation = 0, fail_copy = 0, fail_kernel = 0;
    long lose_at = 0;                    ///< the copy or kernel at which the device is lost
    long full_copy = 0, full_copies = 1; ///< the copy from which on so many find no memory
};

/// A device without a device: three threads, one for each queue, and a memory that the host cannot read. For tests on any
/// machine; what it computes is right, how fast says nothing of any hardware.
class EmulatedDevice final : public Device, private KernelQueue {
public:
    /// Throws Error{environment} where the system gives no more threads.
    explicit EmulatedDevice(EmulatedTraits traits);
    ~EmulatedDevice() override;

    const std::string& name() const override { return traits_.name; }
    const std::string& model() const override { return traits_.model; }
    Bytes bytes() const override { return static_cast<Bytes>(memory_.bytes()); }
    Bytes used() const override { return static_cast<Bytes>(memory_.used()); }
    bool lost() const override { return lost_.load(std::memory_order_acquire); }
    void lose() { lost_.store(true, std::memory_order_release); } ///< at once, whatever it does. Any thread

    Status allocate(std::size_t bytes, Block& block) override;
    Status release(Block block) override { return memory_.release(block); }
    Status adopt(void* memory, std::size_t bytes, Block& block) override;
    Status disown(Block) override { return {}; }
    Status allocate_host(std::size_t bytes, void*& memory) override { return locked_->allocate(bytes, memory); }
    Status release_host(void* memory) override { return locked_->free(memory); }
    Status lock_pages(void* memory, std::size_t bytes) override { return locked_->lock(memory, bytes); }
    Status unlock_pages(void* memory) override { return locked_->unlock(memory); }
    const void* locks_for() const override { return locked_.get(); }

    Status copy_in(HostPlace from, DevicePlace to, Extent extent) override;
    Status copy_out(DevicePlace from, HostPlace to, Extent extent) override;
    Status copy_from(Device& other, DevicePlace from, DevicePlace to, Extent extent) override;
    bool reaches(const Device& other) const override;
    KernelQueue& kernels() override { return *this; }

    Event mark(Queue queue, Completion done) override;
    Status hold(Queue queue, const Event& event) override;
    bool reached(const Event& event) const override;
    Status wait(const Event& event) const override;

private:
    void enqueue(Flops flops, Body body) override;
    bool factors() const override { return traits_.factors; }

    struct Columns {
        char* at;
        std::size_t pitch;
    };
    Status copy(Queue queue, Columns from, Columns to, Extent extent, double bandwidth, const EmulatedDevice* other = nullptr);
    Status inside(DevicePlace place, Extent extent, Columns& columns) const;
    double bandwidth_to(HostPlace host, Extent extent) const;
    Status strike_copy();
    Status strike(long count, long at, Fault fault, const char* what) const;
    Status strike(std::atomic<long>& counter, long at, Fault fault, const char* what);
    WorkQueue& queue(Queue which) { return *queues_[static_cast<std::size_t>(which)]; }
    const WorkQueue& queue(Queue which) const { return *queues_[static_cast<std::size_t>(which)]; }
    bool owns(const Event& event) const;

    const EmulatedTraits traits_;
    AddressSpace memory_;
    const std::shared_ptr<LockedPages> locked_;
    std::atomic<bool> lost_{false};
    std::atomic<long> allocations_{0}, copies_{0}, kernels_{0}, works_{0};
    std::array<std::unique_ptr<WorkQueue>, queues> queues_; ///< the last member: they use the others
};

} // namespace trencadis::devices
