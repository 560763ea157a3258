// Arrays whose home is a device: what their owners ask of it is done by its worker.
#include "base/error.hpp"
#include "engines/devices/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <new>
#include <utility>

namespace trencadis {

using devices::Fault;
using devices::Queue;
using devices::Status;

namespace {

const char* begin_of(const void* data) { return static_cast<const char*>(data); }

} // namespace

// ---- copies of their tiles on the host

void HostBlocks::Give::operator()(void* memory) const { ::operator delete(memory, std::align_val_t(line)); }

void* HostBlocks::find(BlockId block, Bytes bytes)
{
    std::unique_ptr<void, Give>& memory = blocks_[block];
    if (!memory) memory.reset(::operator new(std::max<std::size_t>(1, std::size_t(bytes)), std::align_val_t(line), std::nothrow));
    return memory.get();
}

/// Of a transfer's end in the host's memory. Null: there is no memory for it.
void* DeviceMemory::host_place(const Transfer& transfer, BlockId block)
{
    return block == home_memory ? const_cast<void*>(transfer.data) : host_blocks_.find(block, transfer.bytes);
}

/// Those of a task on a core, where some are copies of what is at home elsewhere; none: all lie at home.
std::vector<Operand> DeviceMemory::operands_on_host(const Task& task)
{
    std::vector<Operand> operands;
    const auto is_array = [&](int i) { return home_of(task.data[i].address) != home_space; };
    bool any = false;
    for (int i = 0; i < task.access_count; ++i) any |= is_array(i);
    if (!any) return operands;
    for (int i = 0; i < task.access_count; ++i) {
        const Datum& datum = task.data[i];
        operands.push_back({const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols, datum.is_name()});
        if (!is_array(i)) continue;
        const DatumShape shape = replicas_.shape(datum.address);
        operands.back().data = host_blocks_.find(replicas_.block(datum.address, home_space), replicas_.bytes(datum.address));
        if (shape.element) operands.back().ld = shape.rows;
        if (!operands.back().data)
            throw Error(
                ErrorCode::out_of_memory,
                fmt::format("no memory of the host left for a copy of what task '{}' needs of an array on a device", task.label));
    }
    return operands;
}

/// A core reads what the task names twice as it lies, but not from a copy, which has one shape.
void DeviceMemory::require_one_way(const Task& task) const
{
    if (arrays_.empty() || !names_two_ways(task)) return;
    for (int i = 0; i < task.access_count; ++i)
        for (int j = 0; j < i; ++j) {
            const Datum &first = task.data[j], &again = task.data[i];
            if (first.address != again.address || home_of(again.address) == home_space) continue;
            const DatumShape was = shape_of(first), is = shape_of(again);
            if (larger_of(was, is)) continue;
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("task '{}' names what lies at {} on a device as {} x {} elements of {} bytes, columns {} apart, "
                            "and as {} x {} of {}, {} apart; of two shapes for one address one holds the other",
                            task.label, again.address, was.rows, was.cols, was.element, was.ld, is.rows, is.cols, is.element,
                            is.ld));
        }
}

/// Nobody uses data: what copies on the host have left is given back.
void DeviceMemory::give_up_host_blocks()
{
    if (host_blocks_.empty() || !used_by_.empty()) return;
    replicas_.release_idle(home_space, host_released_);
    std::erase_if(host_released_, [&](const ReleasedBlock& released) {
        if (replicas_.under_way(released.reader)) return false;
        host_blocks_.give_up(released.block);
        return true;
    });
}

// ---- where arrays are

SpaceId DeviceMemory::home_of(const void* data) const
{
    if (arrays_.empty()) return home_space;
    const Array* const array = array_around(data);
    return array ? space_of(array->device) : home_space;
}

const DeviceMemory::Array* DeviceMemory::array_around(const void* data) const
{
    auto array = arrays_.upper_bound(begin_of(data));
    if (array == arrays_.begin()) return nullptr;
    --array;
    return begin_of(data) < array->second.end ? &array->second : nullptr;
}

int DeviceMemory::device_of(const void* in_array) const
{
    if (!any()) return -1;
    const std::lock_guard lock(mutex_);
    return home_of(in_array) - 1;
}

const void* DeviceMemory::array_of(const void* in_array) const
{
    if (!any()) return nullptr;
    const std::lock_guard lock(mutex_);
    return array_around(in_array) ? std::prev(arrays_.upper_bound(begin_of(in_array)))->first : nullptr;
}

Bytes DeviceMemory::room(int device) const
{
    const std::lock_guard lock(mutex_);
    const Station& station = *stations_[std::size_t(device)];
    return std::max(0.0, station.capacity - station.array_bytes);
}

void DeviceMemory::require_there(int device) const
{
    const std::lock_guard lock(mutex_);
    const Station& station = *stations_[std::size_t(device)];
    if (station.dead.load(std::memory_order_relaxed)) std::rethrow_exception(error_of(station, station.fault, "its arrays"));
}

// ---- orders

/// What is asked of a device's worker, by somebody who waits for it.
struct ArrayOrder {
    std::function<Status(DeviceDriver&)> carry_out; ///< without the lock
    bool copies = false;                            ///< it has ended when the driver says so
    bool again = false;                             ///< it has found no memory once
    Status status = {};
    bool over = false;
};

void DeviceMemory::carry_out_orders(int device, Station& station, Lock& lock)
{
    for (ArrayOrder* const order : std::exchange(station.orders, {})) {
        Status status{Fault::lost, station.name() + " was lost"};
        if (!station.dead.load(std::memory_order_relaxed)) {
            const auto carry_out = [&] {
                lock.unlock();
                status = order->carry_out(*station.driver);
                lock.lock();
            };
            if (order->again) make_room(device, station, lock);
            carry_out();
            if (status.fault == Fault::out_of_memory) { // what idle copies take is asked for back
                make_room(device, station, lock);
                carry_out();
            }
            if (status.fault == Fault::lost) lose(device, station, status);
        }
        if (!order->copies || !status.ok()) end_order(*order, std::move(status));
    }
}

/// A copy that found no memory is asked for once more.
bool DeviceMemory::ask_again(ArrayOrder& order, Station& station)
{
    if (std::exchange(order.again, true)) return false;
    station.orders.push_back(&order);
    return true;
}

void DeviceMemory::end_order(ArrayOrder& order, Status status)
{
    order.status = std::move(status);
    order.over = true;
    changed_.notify_all();
}

/// Returns when the device's worker has done it, with the lock.
void DeviceMemory::order(int device, ArrayOrder& order, const char* what, Lock& lock)
{
    Station& station = *stations_[std::size_t(device)];
    station.orders.push_back(&order);
    call(device);
    changed_.wait(lock, [&] { return order.over; });
    if (order.status.ok()) return;
    if (order.status.fault == Fault::bad_argument)
        throw Error(ErrorCode::bad_argument, fmt::format("device '{}': {}", station.name(), order.status.what));
    const ErrorCode code = order.status.fault == Fault::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::environment;
    throw Error(code, fmt::format("device '{}': {} {}: {}", station.name(), devices::word_of(order.status.fault), what,
                                  order.status.what));
}

void DeviceMemory::set_limit(int device)
{
    const Station& station = *stations_[std::size_t(device)];
    replicas_.limit(space_of(device), std::max(1.0, station.capacity - station.array_bytes));
}

void DeviceMemory::add_array(int device, void* begin, std::size_t bytes, bool ours)
{
    Station& station = *stations_[std::size_t(device)];
    Array& array = arrays_[begin_of(begin)];
    array.end = std::max(array.end, begin_of(begin) + bytes);
    array.device = device;
    ++array.holders;
    array.ours |= ours;
    if (ours) {
        array.bytes = double(bytes);
        station.array_bytes += array.bytes;
        set_limit(device);
    }
    has_arrays_.store(true, std::memory_order_relaxed);
}

void* DeviceMemory::allocate(int device, std::size_t bytes)
{
    devices::Block block = nullptr;
    ArrayOrder asked{[&](DeviceDriver& driver) { return driver.unit().device->allocate(bytes, block); }};
    Lock lock(mutex_);
    order(device, asked, "for an array", lock);
    add_array(device, block, bytes, true);
    return block;
}

/// A part of an array that is known, as the device's makers have it, is that part.
void* DeviceMemory::adopt(int device, void* memory, std::size_t bytes)
{
    devices::Block block = nullptr;
    ArrayOrder asked{[&](DeviceDriver& driver) { return driver.unit().device->adopt(memory, bytes, block); }};
    Lock lock(mutex_);
    order(device, asked, "for an array", lock);
    const auto known = arrays_.upper_bound(begin_of(block));
    if (known != arrays_.begin() && begin_of(block) < std::prev(known)->second.end) {
        ++std::prev(known)->second.holders;
        return block;
    }
    add_array(device, block, bytes, false);
    return block;
}

/// A worker that comes to an order has given back what was to be given back.
void DeviceMemory::give_up_idle()
{
    std::deque<ArrayOrder> asked;
    Lock lock(mutex_);
    for (int device = 0; device < devices(); ++device) {
        Station& station = *stations_[std::size_t(device)];
        if (station.dead.load(std::memory_order_relaxed)) continue;
        replicas_.release_idle(space_of(device), station.released);
        station.orders.push_back(&asked.emplace_back(ArrayOrder{[](DeviceDriver&) { return Status{}; }}));
        call(device);
    }
    changed_.wait(lock, [&] { return std::ranges::all_of(asked, &ArrayOrder::over); });
}

/// Where several hold an array it goes with the last of them.
void DeviceMemory::give_up(void* array)
{
    Lock lock(mutex_);
    auto found = arrays_.upper_bound(begin_of(array));
    if (found == arrays_.begin() || begin_of(array) >= std::prev(found)->second.end)
        throw Error(ErrorCode::bad_argument, 1, fmt::format("there is no array on a device at {}", array));
    --found;
    const auto used = [&](const auto& datum) {
        return begin_of(datum.first) >= found->first && begin_of(datum.first) < found->second.end && !datum.second.empty();
    };
    if (found->second.holders == 1 && std::any_of(users_.begin(), users_.end(), used))
        throw Error(ErrorCode::bad_argument, 1, fmt::format("the array at {} is used by a call, and cannot be given up", array));
    if (--found->second.holders > 0) return;
    const Array gone = found->second;
    void* const block = const_cast<char*>(found->first);
    arrays_.erase(found);
    has_arrays_.store(!arrays_.empty(), std::memory_order_relaxed);
    ArrayOrder asked{[&](DeviceDriver& driver) {
        return gone.ours ? driver.unit().device->release(block) : driver.unit().device->disown(block);
    }};
    Station& station = *stations_[std::size_t(gone.device)];
    station.orders.push_back(&asked);
    call(gone.device);
    changed_.wait(lock, [&] { return asked.over; });
    station.array_bytes -= gone.bytes;
    set_limit(gone.device);
}

/// What is at home on a device that is lost is, too: of one that went when nobody had named its data yet nobody else says so.
void DeviceMemory::fail_where_lost(const void* data)
{
    const SpaceId where = home_of(data);
    if (!is_dead(where)) return;
    fail_users(data, error_of(station_of(where), station_of(where).fault, "an array that lies there"));
}

/// Throws where they are in none.
const DeviceMemory::Array& DeviceMemory::array_with(const Columns& columns) const
{
    const Array* const array = array_around(columns.at);
    if (array && begin_of(columns.at) + (columns.columns - 1) * columns.pitch + columns.bytes <= array->end) return *array;
    throw Error(ErrorCode::bad_argument, 1, fmt::format("there is no such array on a device at {}", columns.at));
}

void DeviceMemory::transfer(Queue queue, const Columns& there, const OnHost& host)
{
    if (there.bytes == 0 || there.columns == 0) return;
    ArrayOrder asked{};
    asked.copies = true;
    asked.carry_out = [&](DeviceDriver& driver) {
        driver.copy_array(queue, {host.at, host.pitch}, {there.at, there.pitch}, {there.bytes, there.columns}, &asked);
        return Status{};
    };
    Lock lock(mutex_);
    order(array_with(there).device, asked, queue == Queue::in ? "in a copy to an array" : "in a copy from an array", lock);
}

void DeviceMemory::write(const Columns& to, const OnHost& from) { transfer(Queue::in, to, from); }
void DeviceMemory::read(const Columns& from, const OnHost& to) { transfer(Queue::out, from, to); }

bool DeviceMemory::copy(const Columns& to, void* from, std::size_t from_pitch)
{
    if (to.bytes == 0 || to.columns == 0) return true;
    bool can = true;
    ArrayOrder asked{};
    asked.copies = true;
    asked.carry_out = [&](DeviceDriver& driver) {
        can = driver.copy_within({from, from_pitch}, {to.at, to.pitch}, {to.bytes, to.columns}, &asked);
        return can ? Status{} : Status{Fault::bad_argument, {}};
    };
    Lock lock(mutex_);
    const int device = array_with(to).device;
    if (array_with({from, from_pitch, to.bytes, to.columns}).device != device) return false;
    try {
        order(device, asked, "in a copy of an array", lock);
    } catch (const Error&) {
        if (can) throw;
    }
    return can;
}

} // namespace trencadis
