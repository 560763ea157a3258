#pragma once
#include "devices/driven/driver.hpp"
#include "devices/opencl/level3.hpp"
#include "devices/opencl/objects.hpp"
#include "devices/opencl/watch.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace trencadis::devices::opencl {

/// One OpenCL device: a context of its own, three queues that keep their order, buffers.
class OpenClDriver final : public Driver {
public:
    /// Throws Error{environment}.
    OpenClDriver(cl_device_id device, std::string name);
    ~OpenClDriver() override;

    std::size_t bytes() const override { return bytes_; }
    bool computes_in(char precision) const override;

    Status allocate(std::size_t bytes, Memory& memory) override;
    Status release(Memory memory) override;
    Status allocate_host(std::size_t bytes, void*& memory) override;
    Status release_host(void* memory) override;
    Status lock_pages(void* memory, std::size_t bytes) override;
    Status unlock_pages(void* memory) override;

    Status copy_in(HostPlace from, Rows to, Extent extent) override;
    Status copy_out(Rows from, HostPlace to, Extent extent) override;
    bool reaches(const Driver&) const override { return false; } // each has a context of its own
    Status copy_from(Driver& other, Rows from, Rows to, Extent extent) override;
    Status compute(const Level3Call& call, const Spots& at) override;
    bool left_half_done() const override { return left_half_done_; }

    Status finish(Queue queue) override;
    void give_up() override;
    Status mark(Queue queue, std::uint64_t number, Completion arrived) override;
    bool can_hold_for(const Driver&) const override { return false; } // an event would not say what has failed
    Status hold(Queue queue, Driver& other, Queue theirs, std::uint64_t number) override;
    Status hold(Queue queue, Completion& open) override;

private:
    struct Line {
        CommandQueue queue;
        std::vector<Event> since_mark;
        std::vector<std::shared_ptr<Gate>> gates; ///< among them
        std::shared_ptr<Marker> unmarked;         ///< what was to be marked and could not be
    };
    Line& line(Queue queue) { return lines_[static_cast<std::size_t>(queue)]; }
    template <class Enqueue> Status enqueue(Queue queue, Fault fault, const std::string& asked, const Enqueue& call);

    const std::string name_;
    Context context_;
    std::size_t bytes_ = 0;
    std::array<Line, queues> lines_;
    CommandQueue service_; ///< maps page-locked memory
    std::map<void*, Buffer> host_memory_;
    std::mutex locking_; ///< of what follows
    std::map<void*, Buffer> locked_;
    std::unique_ptr<Level3> level3_;
    bool given_up_ = false, left_half_done_ = false;
    std::unique_ptr<Watch> watch_; ///< the last member: it tells the markers in the queues
};

} // namespace trencadis::devices::opencl
