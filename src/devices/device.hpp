#pragma once
#include "base/types.hpp"
#include "graph/kernel_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trencadis::devices {

/// What can go wrong on a device: a value, for whoever drives it goes on with the tasks elsewhere.
enum class Fault : std::uint8_t {
    none,
    bad_argument,  ///< our own mistake: a block that is none, a copy out of a block's bounds
    out_of_memory, ///< of the device, or page-locked memory of the host
    copy,
    kernel,
    lost, ///< the device does nothing any more, and what it held is gone
};
std::string_view word_of(Fault fault);

struct [[nodiscard]] Status {
    Fault fault = Fault::none;
    std::string what = {}; ///< what was asked for and what there is, as the part of a message
    bool ok() const { return fault == Fault::none; }
};

/// The beginning of a piece of a device's memory, which the host cannot read.
using Block = void*;

/// What a two-dimensional copy moves: columns of so many bytes. Each end says how many bytes its columns are apart.
struct Extent {
    std::size_t bytes; ///< of a column
    std::size_t columns = 1;
};
struct HostPlace {
    void* at;
    std::size_t pitch;
};
struct DevicePlace {
    Block block;
    std::size_t pitch;
};

/// What is in one is carried out in its order; between them only `hold` orders.
enum class Queue : std::uint8_t {
    in,      ///< copies to the device
    kernels, ///< what it computes
    out,     ///< copies from it
};
inline constexpr int queues = 3;

class Device;

/// A place in a queue, reached when all that was enqueued before it has ended, well or not.
struct Event {
    const Device* device = nullptr;
    Queue queue = Queue::in;
    std::uint64_t number = 0; ///< from 1
};

/// Called when an event is reached, on a thread of the device's: it is short, and calls no device. Nobody sees an event as
/// reached before the completions up to it have returned. The status is the first fault in the queue since its event before.
using Completion = std::function<void(const Status&)>;

/// A device with a memory of its own, driven by one thread at a time; nothing here waits but `wait`. After a fault, what follows
/// in the queue up to its next event is left out, and so is what holds for that event. What throws is std::bad_alloc alone, for
/// memory of the process's own.
class Device {
public:
    virtual ~Device() = default; ///< waits for all that is enqueued; its blocks are gone

    virtual const std::string& name() const = 0;
    /// What measured figures hold for: the maker's words, the driver, the memory, and what was said of it. Not its number, which
    /// may be another one's tomorrow.
    virtual const std::string& model() const = 0;
    virtual Bytes bytes() const = 0; ///< of its memory, for blocks
    virtual Bytes used() const = 0;
    virtual bool lost() const = 0; ///< any thread

    virtual Status allocate(std::size_t bytes, Block& block) = 0;
    virtual Status release(Block block) = 0; ///< nothing enqueued uses it
    /// A block of so many bytes of this device's memory that somebody else has allocated, by the address that its maker's
    /// interfaces have for it. It counts for nothing, and is not given back.
    virtual Status adopt(void* /*memory*/, std::size_t /*bytes*/, Block& /*block*/)
    {
        return {Fault::bad_argument, name() + " takes no memory that others have allocated"};
    }
    virtual Status disown(Block) { return {}; } ///< nothing enqueued uses it
    /// What its maker's interfaces have for a place in a block: an address, or a handle and how far behind its beginning. Any
    /// thread.
    struct Outside {
        void* memory = nullptr;
        std::size_t offset = 0;
    };
    virtual Outside outside(const void* in_block) const { return {const_cast<void*>(in_block)}; }
    /// Returns when what others have enqueued to that stream has ended, as their interfaces number it. Any thread.
    virtual Status synchronize(std::uintptr_t /*stream*/) { return {}; }
    /// Page-locked memory: copies from and to other memory of the host may be slower.
    virtual Status allocate_host(std::size_t bytes, void*& memory) = 0;
    virtual Status release_host(void* memory) = 0;
    /// Locks memory of the caller's for as long; it may not be a part of what is locked already. Any thread.
    virtual Status lock_pages(void* memory, std::size_t bytes) = 0;
    virtual Status unlock_pages(void* memory) = 0; ///< as it was locked, by this device. Any thread
    /// What one of them locks is locked for all that answer the same. Null: its copies gain nothing from it.
    virtual const void* locks_for() const { return nullptr; }

    virtual Status copy_in(HostPlace from, DevicePlace to, Extent extent) = 0;  ///< in Queue::in
    virtual Status copy_out(DevicePlace from, HostPlace to, Extent extent) = 0; ///< in Queue::out
    /// From another device without the host's memory, in Queue::in, where it `reaches` that one, which somebody else may drive
    /// meanwhile: its block stays until the copy has ended. Fault::lost where that one is, too. Or from itself, where it can.
    virtual Status copy_from(Device& other, DevicePlace from, DevicePlace to, Extent extent) = 0;
    virtual bool reaches(const Device& other) const = 0;
    virtual KernelQueue& kernels() = 0; ///< Queue::kernels
    /// Called when a kernel finds no memory, which is then tried once more: gives back what it can of the device's. Null: nobody
    /// does.
    virtual void relieved_by(const std::function<void()>* /*relief*/) {}
    /// Gives back what it has of its memory for itself, as far as nothing needs it.
    virtual void give_up_spare() {}

    virtual Event mark(Queue queue, Completion done = {}) = 0;
    /// What is enqueued there from now on begins when the event is reached.
    virtual Status hold(Queue queue, const Event& event) = 0;
    virtual bool reached(const Event& event) const = 0; ///< any thread
    /// Sleeps until the event, of this device, is reached. Any thread.
    virtual Status wait(const Event& event) const = 0;
};

} // namespace trencadis::devices
