#pragma once
#include "base/types.hpp"

namespace trencadis::blas {

/// The packing buffers of a thread. Each routine has its own, because a solve multiplies and a factorization solves.
enum class Buffer { left, right, triangle, solution, factor, panel };

/// At least `bytes` of the calling thread's buffer, aligned to 64 bytes, contents undefined. Valid until the thread asks for the same
/// buffer again; it only grows, and is freed when the thread ends. Large ones ask for huge pages. Throws Error{out_of_memory}.
void* scratch_bytes(Buffer which, Index bytes);

template <class R> R* scratch(Buffer which, Index count)
{
    return static_cast<R*>(scratch_bytes(which, count * Index(sizeof(R))));
}

} // namespace trencadis::blas
