#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "devices/device.hpp"

#include <CL/cl.h>

#include <string>
#include <utility>

namespace trencadis::devices::opencl {

/// What is retained and released; one owner, or none.
template <class Handle, cl_int (*release)(Handle)> class Owned {
public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned()
    {
        if (handle_) release(handle_);
    }
    Handle get() const { return handle_; }
    Handle* put() { return &handle_; }  ///< of an empty one
    void leave() { handle_ = nullptr; } ///< it is never released
    explicit operator bool() const { return handle_ != nullptr; }

private:
    Handle handle_ = nullptr;
};
using Context = Owned<cl_context, clReleaseContext>;
using CommandQueue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Event = Owned<cl_event, clReleaseEvent>;
using Buffer = Owned<cl_mem, clReleaseMemObject>;

/// Such as CL_INVALID_VALUE; CLBlast's codes are among them.
std::string name_of(int code);
/// `asked` is what was asked for: "a copy of 8000 bytes to the device". `fault` is what most codes are then.
Status status_of(int code, Fault fault, const std::string& asked);

} // namespace trencadis::devices::opencl
