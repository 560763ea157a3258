#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <cstddef>

namespace trencadis::python {

/// Bytes that can still be allocated before the system has to kill somebody: the least of what /proc/meminfo calls available
/// and what this process's control group (version 1 or 2) leaves. Infinity where neither can be read.
Bytes available_memory();

/// Throws Error{out_of_memory} naming `what` when `bytes` are more than that. Small requests are not looked at: the
/// system's own answer comes with a null pointer, but Linux grants large ones that it cannot keep.
void require_memory(Bytes bytes, const char* what);

/// Uninitialised memory for a work copy; large ones on huge pages, whose first touch is cheaper.
class Scratch {
public:
    Scratch() = default;
    Scratch(std::size_t bytes, const char* what); ///< throws Error{out_of_memory}
    Scratch(Scratch&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
    Scratch& operator=(Scratch&& other) noexcept;
    ~Scratch();
    void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

} // namespace trencadis::python
