#include "devices/opencl/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace trencadis::devices::opencl {
namespace {

struct Code {
    int number;
    const char* name;
};
#define TRC_CODE(name)                                                                                                           \
    Code { name, #name }
constexpr Code codes[] = {
    TRC_CODE(CL_DEVICE_NOT_FOUND),
    TRC_CODE(CL_DEVICE_NOT_AVAILABLE),
    TRC_CODE(CL_COMPILER_NOT_AVAILABLE),
    TRC_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    TRC_CODE(CL_OUT_OF_RESOURCES),
    TRC_CODE(CL_OUT_OF_HOST_MEMORY),
    TRC_CODE(CL_MEM_COPY_OVERLAP),
    TRC_CODE(CL_BUILD_PROGRAM_FAILURE),
    TRC_CODE(CL_MAP_FAILURE),
    TRC_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    TRC_CODE(CL_INVALID_VALUE),
    TRC_CODE(CL_INVALID_DEVICE),
    TRC_CODE(CL_INVALID_CONTEXT),
    TRC_CODE(CL_INVALID_COMMAND_QUEUE),
    TRC_CODE(CL_INVALID_HOST_PTR),
    TRC_CODE(CL_INVALID_MEM_OBJECT),
    TRC_CODE(CL_INVALID_BUILD_OPTIONS),
    TRC_CODE(CL_INVALID_KERNEL_ARGS),
    TRC_CODE(CL_INVALID_WORK_GROUP_SIZE),
    TRC_CODE(CL_INVALID_EVENT_WAIT_LIST),
    TRC_CODE(CL_INVALID_EVENT),
    TRC_CODE(CL_INVALID_OPERATION),
    TRC_CODE(CL_INVALID_BUFFER_SIZE),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-1009, "CLBlast: matrix C is larger than its buffer"}, // CLBlast's, as clblast.h has them
    {-1010, "CLBlast: matrix B is larger than its buffer"},
    {-1011, "CLBlast: matrix A is larger than its buffer"},
    {-1017, "CLBlast: a dimension is not positive"},
    {-2044, "CLBlast: the device has no double precision"},
    {-2045, "CLBlast: the device has no half precision"},
    {-2046, "CLBlast: not enough local memory"},
    {-2039, "CLBlast: an unexpected failure"},
};
#undef TRC_CODE

} // namespace

std::string name_of(int code)
{
    const auto* const found = std::ranges::find(codes, code, &Code::number);
    return found == std::end(codes) ? fmt::format("OpenCL's code {}", code) : found->name;
}

Status status_of(int code, Fault fault, const std::string& asked)
{
    if (code >= CL_SUCCESS) return {};
    if (code == CL_DEVICE_NOT_AVAILABLE) fault = Fault::lost;
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY) fault = Fault::out_of_memory;
    return {fault, fmt::format("{} for {}", name_of(code), asked)};
}

} // namespace trencadis::devices::opencl
