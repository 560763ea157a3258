// Arrays that lie on a session's devices.
#include "base/error.hpp"
#include "graph/executor.hpp"
#include "session/session_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

DeviceArrays& arrays_of(Engine& engine, const SessionOptions& options)
{
    if (DeviceArrays* const arrays = engine.device_arrays()) return *arrays;
    throw Error(ErrorCode::bad_argument, 1,
                "an array is to lie on a device, and this session of engine '" + options.engine +
                    "' has none; make it with devices, such as devices='cuda:0'");
}

void check(int number, const char* name, std::int64_t value, std::int64_t least)
{
    if (value < least)
        throw Error(ErrorCode::bad_argument, number, fmt::format("{} is {}, must be at least {}", name, value, least));
}

DeviceArrays::Columns columns_of(void* array, std::int64_t ld, std::int64_t rows, std::int64_t cols, std::size_t element)
{
    check(5, "rows", rows, 0);
    check(6, "cols", cols, 0);
    check(2, "ld", ld, std::max<std::int64_t>(1, rows));
    check(7, "element_bytes", static_cast<std::int64_t>(element), 1);
    return {array, std::size_t(ld) * element, std::size_t(rows) * element, std::size_t(cols)};
}

/// The other end of a copy of these.
DeviceArrays::OnHost on_host(const void* host, std::int64_t ld, std::int64_t rows, std::int64_t cols, std::size_t element)
{
    if (!host && rows > 0 && cols > 0)
        throw Error(ErrorCode::bad_argument, 3, "host is null, and is one end of a copy; give the matrix that is there");
    check(4, "host_ld", ld, std::max<std::int64_t>(1, rows));
    return {const_cast<void*>(host), std::size_t(ld) * element};
}

} // namespace

devices::Device* Session::device(int number) const { return parts_->devices.device(number); }

void Session::require_device(int number) const
{
    if (number >= 0 && number < devices()) return;
    const std::string named = "device " + std::to_string(number) + " was named, and this session has ";
    throw Error(ErrorCode::bad_argument, 1,
                devices() == 0 ? named + "no devices; make it with some, such as devices='cuda:0'"
                               : named + fmt::format("{} of them, from 0 on", devices()));
}

void* Session::allocate_on(int device, std::size_t bytes)
{
    require_workers();
    require_device(device);
    if (bytes == 0) throw Error(ErrorCode::bad_argument, 2, "bytes is 0, must be at least 1");
    return arrays_of(*parts_->engine, parts_->options).allocate(device, bytes);
}

void* Session::adopt(int device, void* memory, std::size_t bytes)
{
    require_workers();
    require_device(device);
    if (bytes == 0) throw Error(ErrorCode::bad_argument, 3, "bytes is 0, must be at least 1");
    return arrays_of(*parts_->engine, parts_->options).adopt(device, memory, bytes);
}

/// In a process forked since nothing of it is touched.
void Session::give_up(void* array)
{
    if (made_before_fork()) return;
    arrays_of(*parts_->engine, parts_->options).give_up(array);
}

void Session::copy_to(void* array, std::int64_t ld, const void* host, std::int64_t host_ld, std::int64_t rows, std::int64_t cols,
                      std::size_t element_bytes)
{
    require_workers();
    const DeviceArrays::Columns there = columns_of(array, ld, rows, cols, element_bytes);
    arrays_of(*parts_->engine, parts_->options).write(there, on_host(host, host_ld, rows, cols, element_bytes));
}

void Session::copy_from(const void* array, std::int64_t ld, void* host, std::int64_t host_ld, std::int64_t rows,
                        std::int64_t cols, std::size_t element_bytes)
{
    require_workers();
    const DeviceArrays::Columns there = columns_of(const_cast<void*>(array), ld, rows, cols, element_bytes);
    arrays_of(*parts_->engine, parts_->options).read(there, on_host(host, host_ld, rows, cols, element_bytes));
}

void Session::copy_array(void* to, std::int64_t to_ld, const void* from, std::int64_t from_ld, std::int64_t rows,
                         std::int64_t cols, std::size_t element_bytes)
{
    require_workers();
    const DeviceArrays::Columns there = columns_of(to, to_ld, rows, cols, element_bytes);
    check(4, "from_ld", from_ld, std::max<std::int64_t>(1, rows));
    DeviceArrays& arrays = arrays_of(*parts_->engine, parts_->options);
    if (arrays.copy(there, const_cast<void*>(from), std::size_t(from_ld) * element_bytes)) return;
    std::vector<std::byte> meanwhile(there.bytes * there.columns);
    arrays.read(columns_of(const_cast<void*>(from), from_ld, rows, cols, element_bytes), {meanwhile.data(), there.bytes});
    arrays.write(there, {meanwhile.data(), there.bytes});
}

/// In a process forked since nobody can tell whether a matrix lies on a device, whose lock another process may have: no call goes
/// on where any could, since nobody here may look at its elements.
bool Session::has_arrays() const
{
    const DeviceArrays* const arrays = parts_->engine->device_arrays();
    if (!arrays || !arrays->any()) return false;
    require_workers();
    return true;
}

void Session::give_up_idle_memory()
{
    if (made_before_fork()) return; // whoever could is not here
    if (DeviceArrays* const arrays = parts_->engine->device_arrays()) arrays->give_up_idle();
}

bool Session::minds_memory() const { return parts_->engine->device_arrays() && (keeps() || has_arrays()); }

int Session::device_of(const void* in_array) const
{
    return has_arrays() ? parts_->engine->device_arrays()->device_of(in_array) : -1;
}

/// Who calls from a task has a worker that an earlier call may need, and does not wait.
std::unique_ptr<Crew::Turn> Session::turn_with(const std::vector<const void*>& matrices, const std::function<bool()>& interrupted)
{
    require_workers();
    ArrayTurns::Arrays arrays;
    for (const void* const matrix : matrices)
        if (const void* const array = parts_->engine->device_arrays()->array_of(matrix)) arrays.push_back(array);
    if (Executor::here()) return parts_->array_turns.begin(std::move(arrays));
    return parts_->array_turns.wait_for(std::move(arrays), interrupted);
}

void Session::require_there(int device) const { parts_->engine->device_arrays()->require_there(device); }

/// What arrays take of it is not for copies.
Bytes Session::device_bytes() const
{
    Bytes least = parts_->devices.least_bytes();
    if (!has_arrays()) return least;
    for (int device = 0; device < devices(); ++device) least = std::min(least, parts_->engine->device_arrays()->room(device));
    return std::max(1.0, least);
}

std::vector<const DeviceKernels*> Session::device_kernels() const { return parts_->devices.kernels(); }

} // namespace trencadis
