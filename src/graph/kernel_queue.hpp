#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <functional>

namespace trencadis {

/// Where a device's blocks lie for whoever computes on the device.
class BlockMap {
public:
    /// Of a block's first byte, or of another one in it. Throws Error{bad_argument} for what is in none of the device's blocks,
    /// such as the host's memory.
    virtual void* at(const void* in_block) const = 0;

protected:
    ~BlockMap() = default;
};

class Level3Queue;

/// The kernels of a device, one after the other, as what computes there sees them: the bodies of tasks only enqueue.
class KernelQueue {
public:
    using Body = std::function<void(const BlockMap&)>;

    /// Of devices that run functions of this process: `body` is called on the device, of so many flops, and may throw, which is
    /// that kernel's failure. Throws std::bad_alloc.
    virtual void enqueue(Flops flops, Body body) = 0;
    /// Of devices that compute with a library of their own (level3_call.hpp): those run no functions. Null: of none.
    virtual Level3Queue* level3() { return nullptr; }
    /// Are factorizations to be computed there, by functions of this process: Cholesky's of a tile, LU of a block column?
    virtual bool factors() const { return false; }
    /// Kernels that were asked for so far, well or not, but for those that the device had no memory to begin, not even in part,
    /// and what would have followed them. By whoever drives the device.
    std::uint64_t asked() const { return asked_; }

protected:
    ~KernelQueue() = default;
    void note_asked() { ++asked_; }

private:
    std::uint64_t asked_ = 0;
};

} // namespace trencadis
