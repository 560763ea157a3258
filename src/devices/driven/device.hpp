#pragma once
#include "devices/driven/blocks.hpp"
#include "devices/locked_pages.hpp"
#include "devices/marks.hpp"
#include "graph/level3_call.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <vector>

namespace trencadis::devices {

/// A device behind a driver: what all of them have in common. Checks what it is asked for, counts its memory, orders completions,
/// and keeps what follows a fault out of the queue until the next event.
class DrivenDevice final : public Device, private KernelQueue, private Level3Queue {
public:
    /// Of at most so many bytes of its memory. `lacks_double`: leaves double precision to the cores although it has it.
    DrivenDevice(std::string name, std::string model, std::unique_ptr<Driver> driver, std::size_t bytes,
                 bool lacks_double = false);
    ~DrivenDevice() override;

    const std::string& name() const override { return name_; }
    const std::string& model() const override { return model_; }
    Bytes bytes() const override { return static_cast<Bytes>(bytes_); }
    Bytes used() const override { return static_cast<Bytes>(used_); }
    bool lost() const override { return books_->lost.load(std::memory_order_acquire); }

    Status allocate(std::size_t bytes, Block& block) override;
    Status release(Block block) override;
    Status adopt(void* memory, std::size_t bytes, Block& block) override;
    Status disown(Block block) override;
    Outside outside(const void* in_block) const override;
    Status synchronize(std::uintptr_t stream) override { return seen(driver_->synchronize(stream)); }
    Status allocate_host(std::size_t bytes, void*& memory) override;
    Status release_host(void* memory) override;
    Status lock_pages(void* memory, std::size_t bytes) override;
    Status unlock_pages(void* memory) override;
    const void* locks_for() const override { return driver_->locks_for(); }

    Status copy_in(HostPlace from, DevicePlace to, Extent extent) override;
    Status copy_out(DevicePlace from, HostPlace to, Extent extent) override;
    Status copy_from(Device& other, DevicePlace from, DevicePlace to, Extent extent) override;
    bool reaches(const Device& other) const override;
    KernelQueue& kernels() override { return *this; }
    void relieved_by(const std::function<void()>* relief) override { relief_ = relief; }
    void give_up_spare() override { driver_->give_up_spare(); }

    Event mark(Queue queue, Completion done) override;
    Status hold(Queue queue, const Event& event) override;
    bool reached(const Event& event) const override;
    Status wait(const Event& event) const override;

private:
    /// What the driver's threads may still touch while the device goes.
    struct Books {
        std::atomic<bool> lost{false};
        std::array<Marks, queues> marks;
    };

    // KernelQueue and Level3Queue
    void enqueue(Flops flops, Body body) override;
    Level3Queue* level3() override { return this; }
    bool computes_in(char precision) const override;
    bool factors() const override { return driver_->factors(); }
    bool factors_lu() const override { return driver_->factors_lu(); }
    void enqueue(const Level3Call& call) override;

    Marks& marks(Queue queue) const { return books_->marks[static_cast<std::size_t>(queue)]; }
    Status& fault(Queue queue) { return faults_[static_cast<std::size_t>(queue)]; }
    bool owns(const Event& event) const;
    Status inside(DevicePlace place, Extent extent, Rows& rows) const;
    Status spots_of(const Level3Call& call, Spots& at) const;
    void begin(const Level3Call& call, const Spots& at, Status& status);
    Status seen(Status status);
    Status lost_status() const;
    static void arrive(Books& books, Queue queue, std::uint64_t number, const Status& status);

    const std::string name_, model_;
    const std::size_t bytes_;
    const bool lacks_double_;
    std::size_t used_ = 0;
    const std::function<void()>* relief_ = nullptr;
    Blocks blocks_;
    LockedPages locked_;
    std::set<void*> host_memory_;
    /// Of a factorization; nobody is told before its mark, nor after a loss has ended that.
    struct Answer {
        std::shared_ptr<std::atomic<Index>> row; ///< below 0: not known
        std::function<void(Index)> told;
    };
    Completion behind_answers(Completion done);
    std::vector<Answer> answers_;       ///< since the last mark behind kernels
    std::array<Status, queues> faults_; ///< the first one since the last mark, as far as they are known when things are enqueued
    const std::shared_ptr<Books> books_ = std::make_shared<Books>();
    std::unique_ptr<Driver> driver_; ///< the last member
};

} // namespace trencadis::devices
