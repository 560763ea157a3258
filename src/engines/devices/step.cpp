// What a device's worker does between looks: takes what has ended, begins what can begin.
#include "base/error.hpp"
#include "engines/devices/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trencadis {

using devices::Queue;
using devices::Status;

std::exception_ptr DeviceMemory::error_of(const Station& station, const Status& status, std::string_view where)
{
    const ErrorCode code = status.fault == devices::Fault::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::environment;
    return std::make_exception_ptr(Error(code, fmt::format("device '{}': {} in {}: {}; other calls go on without it",
                                                           station.name(), devices::word_of(status.fault), where, status.what)));
}

std::vector<DeviceMemory::Done> DeviceMemory::step(int device, WorkerId worker)
{
    Station& station = *stations_[std::size_t(device)];
    station.news.store(false, std::memory_order_seq_cst);
    std::vector<Done> done;
    std::vector<Launch> launches;
    {
        const std::lock_guard lock(mutex_);
        bool changed = take_ended(device, station, done);
        if (changed) acquire_claims();
        give_up_blocks(station);
        changed |= start_transfers(device, station);
        launches = ready_claims(device, station);
        changed |= drop_claims(device, station, done);
        if (changed) call_all();
    }
    for (Launch& launch : launches) station.driver->run(*launch.task, std::move(launch.operands), worker);
    return done;
}

// ---- what has ended

bool DeviceMemory::take_ended(int device, Station& station, std::vector<Done>& done)
{
    const std::vector<DeviceDriver::Ended> all = station.driver->take_ended();
    for (const DeviceDriver::Ended& ended : all) {
        if (!ended.status.ok()) lose(station, ended.status);
        if (ended.task) end_task(device, station, ended, done);
        else end_transfer(station, ended);
    }
    return !all.empty();
}

void DeviceMemory::end_transfer(Station& station, const DeviceDriver::Ended& ended)
{
    const Transfer& transfer = ended.transfer;
    const bool in = transfer.from == 0;
    if (ended.status.ok()) {
        double& bandwidth = station.bandwidth[in ? 0 : 1];
        const double seen = transfer.bytes / std::max(1e-9, (ended.end_ns - ended.begin_ns) * 1e-9);
        bandwidth += 0.25 * (seen - bandwidth);
    } else if (!in) lose_datum(transfer.data, station);
    queues_.end(transfer);
    replicas_.complete(transfer.id);
}

/// Kernels end in the order in which the tasks were claimed.
void DeviceMemory::end_task(int device, Station& station, const DeviceDriver::Ended& ended, std::vector<Done>& done)
{
    Task& task = *ended.task;
    station.claims.pop();
    replicas_.release(data_of(task), space_of(device));
    std::exception_ptr failure = ended.thrown;
    if (!ended.status.ok()) failure = error_of(station, ended.status, fmt::format("task '{}'", task.label));
    done.push_back({&task, std::move(failure), ended.begin_ns, ended.end_ns});
}

// ---- what can begin

void DeviceMemory::give_up_blocks(Station& station)
{
    std::erase_if(station.released, [&](const ReleasedBlock& released) {
        if (replicas_.under_way(released.reader)) return false;
        station.driver->give_up(released.block);
        return true;
    });
}

/// Two in each direction, so that the next one begins while the end of one is being told. A device that is lost has them end at
/// once: true when any did.
bool DeviceMemory::start_transfers(int device, Station& station)
{
    constexpr std::size_t at_a_time = 2;
    const SpaceId space = space_of(device);
    bool ended = false;
    for (const Queue queue : {Queue::in, Queue::out}) {
        const bool in = queue == Queue::in;
        const TransferQueues::Queue planned = in ? space : replicas_.spaces() + space;
        while (station.driver->in_flight(queue) < at_a_time) {
            const std::optional<Transfer> transfer = queues_.begin(planned);
            if (!transfer) break;
            if (station.dead.load(std::memory_order_relaxed)) {
                if (!in) lose_datum(transfer->data, station);
                queues_.end(*transfer);
                replicas_.complete(transfer->id);
                ended = true;
            } else if (in) station.driver->copy_in(*transfer);
            else station.driver->copy_out(*transfer);
        }
    }
    return ended;
}

/// In their order, as far as what they need is there.
std::vector<DeviceMemory::Launch> DeviceMemory::ready_claims(int device, Station& station)
{
    std::vector<Launch> launches;
    for (Claims::Claim& claim : station.claims) {
        if (claim.begun) continue;
        if (station.dead.load(std::memory_order_relaxed) || !claim.acquired || !queues_.complete(claim.wait_for)) break;
        if (!claim.task->flow->may_run(*claim.task)) break;
        Launch launch{claim.task, {}};
        if (!find_operands(device, station, *claim.task, launch.operands)) break;
        claim.begun = true;
        launches.push_back(std::move(launch));
    }
    return launches;
}

/// Where they are in the device's memory; what is only written gets memory now. False: there is none.
bool DeviceMemory::find_operands(int device, Station& station, const Task& task, std::vector<Operand>& operands)
{
    for (int i = 0; i < task.access_count; ++i) {
        const Datum& datum = task.data[i];
        const DatumShape shape = replicas_.shape(datum.address);
        void* place = nullptr;
        const BlockId block = replicas_.block(datum.address, space_of(device));
        if (const Status status = station.driver->find(block, replicas_.bytes(datum.address), place); !status.ok()) {
            lose(station, status);
            return false;
        }
        operands.push_back({place, shape.element ? shape.rows : datum.ld, datum.rows, datum.cols});
    }
    return true;
}

/// The first ones, while they cannot run: their data cannot come, their flow was cancelled, the device is lost. Those that have
/// not got their data go back to where they came from, where cores can run them.
bool DeviceMemory::drop_claims(int device, Station& station, std::vector<Done>& done)
{
    const std::size_t before = done.size();
    while (!station.claims.empty() && !station.claims.front().begun) {
        const Claims::Claim& claim = station.claims.front();
        Task& task = *claim.task;
        const bool dead = station.dead.load(std::memory_order_relaxed), stopped = !task.flow->may_run(task);
        if (!claim.impossible && !dead && !stopped) break;
        const bool back = !stopped && !claim.acquired && task.codelet->core;
        std::exception_ptr failure = claim.failure;
        const std::string where = fmt::format("task '{}'", task.label);
        if (claim.impossible && !failure)
            failure = error_of(station, {devices::Fault::out_of_memory, "its data do not fit together"}, where);
        else if (dead && !stopped) failure = error_of(station, station.fault, where);
        if (claim.acquired) replicas_.release(data_of(task), space_of(device), false);
        station.claims.pop();
        done.push_back({&task, back ? nullptr : std::move(failure), 0, 0, back});
    }
    return done.size() > before;
}

// ---- faults

void DeviceMemory::lose(Station& station, const Status& status)
{
    if (station.dead.exchange(true, std::memory_order_relaxed)) return;
    station.fault = status;
}

/// Its only value was there: the flows that use it have failed.
void DeviceMemory::lose_datum(const void* data, const Station& station)
{
    const auto users = users_.find(data);
    if (users == users_.end()) return;
    for (TaskFlow* const flow : users->second) flow->fail(error_of(station, station.fault, "what it held"));
}

} // namespace trencadis
