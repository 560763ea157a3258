#pragma once
#include "devices/device.hpp"
#include "engines/devices/copy_crew.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace trencadis {

/// Copies between a device and memory of the host that is not page-locked, by way of page-locked buffers: two in each direction,
/// each as large as the largest copy was, and no larger than `most`. Larger copies go in pieces, and then wait for each other. By
/// the device's worker.
class Staging {
public:
    static constexpr std::size_t most = std::size_t(16) << 20;
    explicit Staging(devices::Device& device, int helpers = CopyCrew::usual()) : device_(device), crew_(helpers) {}
    ~Staging(); ///< all that was enqueued has ended
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// Is there page-locked memory for such a copy? If not, nothing was asked for.
    bool has_room(devices::Queue queue, devices::Extent extent);
    // After that. `piece_ended` is called when the queue has come to the end of a piece, but for the last one: its end is the
    // caller's own mark, of which `sealed` tells.
    devices::Status copy_in(devices::HostPlace from, devices::DevicePlace to, devices::Extent extent,
                            const devices::Completion& piece_ended);
    devices::Status copy_out(devices::DevicePlace from, devices::HostPlace to, devices::Extent extent,
                             const devices::Completion& piece_ended);
    void sealed(devices::Queue queue, const devices::Event& event);
    /// What has come up to this event, which has been reached, is brought to where it goes.
    void land(const devices::Event& event);

private:
    struct Slot {
        void* memory = nullptr;
        std::size_t bytes = 0;
        devices::Event free_at = {}; ///< number 0: at once, or not known yet
    };
    /// What is on its way from the device, or has come.
    struct Landing {
        int slot;
        devices::HostPlace to;
        devices::Extent extent;
    };
    static constexpr int slots = 2;
    using Line = std::array<Slot, slots>;
    Line& line(devices::Queue queue) { return lines_[queue == devices::Queue::in ? 0 : 1]; }
    int& last(devices::Queue queue) { return last_[queue == devices::Queue::in ? 0 : 1]; }
    Slot& take_slot(devices::Queue queue);
    void land_first();

    devices::Device& device_;
    CopyCrew crew_;
    std::array<Line, 2> lines_{};
    std::array<int, 2> last_{};    ///< the slot that was taken last
    std::deque<Landing> landings_; ///< in the order of the queue
};

} // namespace trencadis
