#pragma once
#include "devices/device.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace trencadis::testing {

/// A device whose queues go on only when they are told to, each to its next mark. Its memory is the host's.
class StepwiseDevice final : public devices::Device, private KernelQueue, private BlockMap {
    using Queue = devices::Queue;
    using Status = devices::Status;

public:
    /// `direct`: it copies from others that do, too.
    StepwiseDevice(std::string name, Bytes bytes, bool direct = false) : name_(std::move(name)), bytes_(bytes), direct_(direct) {}

    /// The other end of the copy that is next; null: none is.
    const void* next(Queue queue) const { return pieces(queue).empty() ? nullptr : pieces(queue).front().host; }
    /// False: there is nothing in the queue. Where it goes wrong nothing is done.
    bool advance(Queue queue, const Status& how = {})
    {
        std::deque<Piece>& waiting = pieces(queue);
        while (!waiting.empty()) {
            const Piece piece = std::move(waiting.front());
            waiting.pop_front();
            if (piece.work && how.ok()) piece.work();
            if (!piece.mark) continue;
            reached_[std::size_t(queue)] = piece.mark;
            if (piece.done) piece.done(how);
            return true;
        }
        return false;
    }
    Bytes moved(Queue queue) const { return moved_[std::size_t(queue)]; }

    const std::string& name() const override { return name_; }
    const std::string& model() const override { return name_; }
    Bytes bytes() const override { return bytes_; }
    Bytes used() const override { return used_; }
    bool lost() const override { return false; }
    Status allocate(std::size_t bytes, devices::Block& block) override
    {
        if (used_ + Bytes(bytes) > bytes_) return {devices::Fault::out_of_memory, "more than its plans say"};
        auto memory = std::make_unique<std::byte[]>(bytes);
        std::fill_n(memory.get(), bytes, std::byte{0xff});
        block = memory.get();
        used_ += Bytes(bytes);
        blocks_.emplace(block, std::pair(std::move(memory), bytes));
        return {};
    }
    Status release(devices::Block block) override
    {
        used_ -= Bytes(blocks_.at(block).second);
        blocks_.erase(block);
        return {};
    }
    Status copy_in(devices::HostPlace from, devices::DevicePlace to, devices::Extent extent) override
    {
        return copy(Queue::in, from.at, from.at, from.pitch, to.block, to.pitch, extent);
    }
    Status copy_out(devices::DevicePlace from, devices::HostPlace to, devices::Extent extent) override
    {
        return copy(Queue::out, to.at, from.block, from.pitch, to.at, to.pitch, extent);
    }
    KernelQueue& kernels() override { return *this; }
    devices::Event mark(Queue queue, devices::Completion done) override
    {
        const std::uint64_t number = ++marks_[std::size_t(queue)];
        pieces(queue).push_back({.mark = number, .done = std::move(done), .host = nullptr, .work = {}});
        return {this, queue, number};
    }
    bool reached(const devices::Event& event) const override { return reached_[std::size_t(event.queue)] >= event.number; }
    Status wait(const devices::Event& event) const override
    {
        while (!reached(event)) const_cast<StepwiseDevice&>(*this).advance(event.queue);
        return {};
    }

    Status allocate_host(std::size_t, void*&) override { return none(); }
    Status release_host(void*) override { return none(); }
    Status lock_pages(void*, std::size_t) override { return none(); }
    Status unlock_pages(void*) override { return none(); }
    Status copy_from(Device& other, devices::DevicePlace from, devices::DevicePlace to, devices::Extent extent) override
    {
        if (!reaches(other)) return none();
        return copy(Queue::in, from.block, from.block, from.pitch, to.block, to.pitch, extent);
    }
    bool reaches(const Device& other) const override
    {
        const auto* const its = dynamic_cast<const StepwiseDevice*>(&other);
        return its && its != this && direct_ && its->direct_;
    }
    Status hold(Queue, const devices::Event&) override { return none(); }

private:
    struct Piece {
        std::uint64_t mark = 0; ///< 0: something to do
        devices::Completion done;
        const void* host;
        std::function<void()> work;
    };
    static Status none() { return {devices::Fault::bad_argument, "this device does not do that"}; }
    std::deque<Piece>& pieces(Queue queue) { return pieces_[std::size_t(queue)]; }
    const std::deque<Piece>& pieces(Queue queue) const { return pieces_[std::size_t(queue)]; }
    Status copy(Queue queue, const void* host, const void* from, std::size_t from_pitch, void* to, std::size_t to_pitch,
                devices::Extent extent)
    {
        moved_[std::size_t(queue)] += Bytes(extent.bytes) * Bytes(extent.columns);
        pieces(queue).push_back({.done = {}, .host = host, .work = [=] {
                                     for (std::size_t column = 0; column < extent.columns; ++column)
                                         std::memcpy(static_cast<std::byte*>(to) + column * to_pitch,
                                                     static_cast<const std::byte*>(from) + column * from_pitch, extent.bytes);
                                 }});
        return {};
    }
    void* at(const void* in_block) const override { return const_cast<void*>(in_block); }
    void enqueue(Flops, Body body) override
    {
        const BlockMap& map = *this;
        pieces(Queue::kernels).push_back({.done = {}, .host = nullptr, .work = [body = std::move(body), &map] { body(map); }});
    }

    const std::string name_;
    const Bytes bytes_;
    const bool direct_;
    Bytes used_ = 0;
    std::map<devices::Block, std::pair<std::unique_ptr<std::byte[]>, std::size_t>> blocks_;
    std::array<std::deque<Piece>, devices::queues> pieces_;
    std::array<std::uint64_t, devices::queues> marks_{}, reached_{};
    std::array<Bytes, devices::queues> moved_{};
};

} // namespace trencadis::testing
