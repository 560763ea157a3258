#pragma once
#include "base/error.hpp"
#include "base/types.hpp"

#include <algorithm>

namespace trencadis::blas {

/// The packing buffers of a thread. Each routine has its own, because a solve multiplies and a factorization solves.
enum class Buffer { left, right, triangle, solution, factor, panel, applied, compact, products, turned, reflectors };

/// At least `bytes` of the calling thread's buffer, aligned to 64 bytes, contents undefined. Valid until the thread asks for the
/// same buffer again; it only grows, and is freed when the thread ends. Large ones ask for huge pages. Throws
/// Error{out_of_memory}.
void* scratch_bytes(Buffer which, Index bytes);

template <class R> R* scratch(Buffer which, Index count)
{
    return static_cast<R*>(scratch_bytes(which, count * Index(sizeof(R))));
}

/// The largest of `wanted` and its halves, `least` at the end, for which `reserve(size)` finds buffers, since slow is better than
/// not at all.
template <class Reserve> Index fitting(Index wanted, Index least, const Reserve& reserve)
{
    for (Index size = wanted;; size = std::max(least, size / 2)) try {
            reserve(size);
            return size;
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory || size <= least) throw;
        }
}

/// Does `compute`, which asks for memory before it changes anything that is read again, find enough?
template <class Compute> bool finds_memory(const Compute& compute)
{
    try {
        compute();
        return true;
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return false;
    }
}

/// Memory that the members of a team share, aligned as above. It comes from a small store and goes back there, so that one
/// operation after the other does not fault in the same pages again; what the store keeps is bounded (8 blocks).
/// Throws Error{out_of_memory}.
class SharedBuffer {
public:
    explicit SharedBuffer(Index bytes);
    ~SharedBuffer();
    SharedBuffer(const SharedBuffer&) = delete;
    SharedBuffer& operator=(const SharedBuffer&) = delete;
    template <class R> R* as() const { return static_cast<R*>(data_); }

private:
    void* data_;
    Index bytes_;
};

} // namespace trencadis::blas
