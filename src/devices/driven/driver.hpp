#pragma once
#include "devices/device.hpp"
#include "graph/level3_call.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trencadis::devices {

/// A piece of a device's memory as its driver names it.
using Memory = std::uintptr_t;

/// A place in such a piece.
struct Spot {
    Memory memory = 0;
    std::size_t offset = 0; ///< bytes
};
struct Rows {
    Spot spot;
    std::size_t pitch; ///< bytes between the beginnings of two columns, at least those of one
};
/// Where the matrices of a Level3Call lie.
struct Spots {
    Spot A, B, C;
};

/// What the library of a driver does for one device, as its own words say it: nothing is checked here that DrivenDevice has
/// checked, nothing is counted, and nothing waits but the destructor. One thread at a time. A fault that is found while something
/// is carried out reaches the marks behind it.
class Driver {
public:
    virtual ~Driver() = default; ///< after all that is enqueued; no `arrived` is called from then on

    virtual std::size_t bytes() const = 0; ///< for blocks, as far as can be told
    virtual bool computes_in(char precision) const = 0;
    virtual bool factors() const { return false; }    ///< Level3Call's potrf, in those precisions
    virtual bool factors_lu() const { return false; } ///< its getrf and laswp

    virtual Status allocate(std::size_t bytes, Memory& memory) = 0;
    virtual Status release(Memory memory) = 0;
    /// What Device::adopt is given: as the driver names it. Where drivers cannot share memory it is refused.
    virtual Status adopt(void* /*memory*/, std::size_t /*bytes*/, Memory& /*named*/)
    {
        return {Fault::bad_argument, "its memory belongs to the context that it was allocated in, and is not shared with others"};
    }
    /// What others name that place by.
    virtual Device::Outside outside(const Spot& spot) const
    {
        return {reinterpret_cast<void*>(spot.memory), spot.offset}; // NOLINT(performance-no-int-to-ptr)
    }
    virtual Status synchronize(std::uintptr_t /*stream*/) { return {}; } ///< Device::synchronize. Any thread
    virtual Status allocate_host(std::size_t bytes, void*& memory) = 0;
    virtual Status release_host(void* memory) = 0;
    virtual Status lock_pages(void* memory, std::size_t bytes) = 0; ///< any thread
    virtual Status unlock_pages(void* memory) = 0;                  ///< any thread
    virtual const void* locks_for() const { return nullptr; }       ///< Device::locks_for

    virtual Status copy_in(HostPlace from, Rows to, Extent extent) = 0;
    virtual Status copy_out(Rows from, HostPlace to, Extent extent) = 0;
    virtual bool reaches(const Driver& other) const = 0;
    virtual Status copy_from(Driver& other, Rows from, Rows to, Extent extent) = 0;
    /// Fault::out_of_memory: it may be tried again, if it has not begun.
    virtual Status compute(const Level3Call& call, const Spots& at) = 0;
    /// Has the last `compute`, which was refused, begun all the same? Then what it writes is half done.
    virtual bool left_half_done() const { return false; }
    /// Gives back memory of the device that it has for itself, as far as nothing needs it.
    virtual void give_up_spare() {}

    /// Returns when what is in the queue has ended, with how that went: of a queue that can have no mark. Called behind a mark
    /// that was not to be had.
    virtual Status finish(Queue queue) = 0;
    /// The device is lost: from now on nothing waits for it, the destructor neither.
    virtual void give_up() {}

    /// `arrived` is called when the queue has come there, on whichever thread, also where something before it has failed. A fault
    /// here: it is not called.
    virtual Status mark(Queue queue, std::uint64_t number, Completion arrived) = 0;
    /// What comes next in the queue begins behind a mark of another queue, which may be another driver's.
    virtual bool can_hold_for(const Driver& other) const = 0;
    virtual Status hold(Queue queue, Driver& other, Queue theirs, std::uint64_t number) = 0;
    /// The same for anything else: what comes next begins when `open` is called, on whichever thread, with how it went.
    virtual Status hold(Queue queue, Completion& open) = 0;
};

/// The devices that a driver's library has, by number.
class DriverLibrary {
public:
    virtual ~DriverLibrary() = default;
    virtual std::vector<std::string> names() = 0;
    /// Its driver's version and its memory, in words.
    virtual std::string version(std::size_t number) = 0;
    /// Throws Error{environment} where it does not start.
    virtual std::unique_ptr<Driver> open(std::size_t number) = 0;
};

} // namespace trencadis::devices
