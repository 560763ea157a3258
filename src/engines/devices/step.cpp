// What a device's worker does between looks: takes what has ended, begins what can begin.
#include "base/device_error.hpp"
#include "engines/devices/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace trencadis {

using devices::Queue;
using devices::Status;

std::exception_ptr DeviceMemory::error_of(const Station& station, const Status& status, std::string_view where)
{
    const ErrorCode code = status.fault == devices::Fault::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::environment;
    return std::make_exception_ptr(
        DeviceError(code, fmt::format("device '{}': {} in {}: {}; other calls go on without it", station.name(),
                                      devices::word_of(status.fault), where, status.what)));
}

namespace {

/// Is the device as it was? What it has no memory for, or was wrongly asked for, it has not done.
bool is_refused(const DeviceDriver::Ended& ended)
{
    const devices::Fault fault = ended.status.fault;
    return fault == devices::Fault::out_of_memory || (fault == devices::Fault::bad_argument && ended.order);
}

Overlap::Queue queue_of(const DeviceDriver::Ended& ended)
{
    return ended.task ? Overlap::kernels : ended.transfer.to != 0 ? Overlap::in : Overlap::out;
}

/// The lock is not held while it lives: what a driver is asked for may take long, and policies ask about data meanwhile.
class Outside {
public:
    explicit Outside(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
    ~Outside() { lock_.lock(); }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

private:
    std::unique_lock<std::mutex>& lock_;
};

} // namespace

DeviceMemory::Progress DeviceMemory::step(int device, WorkerId worker)
{
    Station& station = *stations_[std::size_t(device)];
    station.news.store(false, std::memory_order_seq_cst);
    Progress progress;
    std::vector<Launch> launches;
    station.driver->land();
    {
        Lock lock(mutex_);
        bool changed = take_ended(device, station, progress);
        if (changed) acquire_claims();
        give_up_blocks(station, lock);
        carry_out_orders(device, station, lock);
        changed |= start_transfers(device, station, lock);
        changed |= start_starved(device, station, lock);
        changed |= send_home(device, station, lock);
        launches = ready_claims(device, station, lock);
        changed |= drop_claims(device, station, progress.done);
        progress.takes_less = std::exchange(station.takes_less, false);
        if (changed) {
            acquire_claims(); // what a claim that waits for room needs may have been given up since the first try
            call_all();
        }
    }
    const std::function<void()> relief = [&] {
        Lock lock(mutex_);
        make_room(device, station, lock);
    };
    for (Launch& launch : launches) station.driver->run(*launch.task, std::move(launch.operands), worker, relief);
    return progress;
}

// ---- what has ended

bool DeviceMemory::take_ended(int device, Station& station, Progress& progress)
{
    std::vector<DeviceDriver::Ended> all = station.driver->take_ended();
    for (DeviceDriver::Ended& ended : all) {
        if (!ended.order) station.overlap.add(queue_of(ended), ended.begin_ns, ended.end_ns);
        if (!ended.status.ok() && !is_refused(ended)) {
            const SpaceId from = ended.task ? 0 : ended.transfer.from;
            const bool across = from != 0 && from != space_of(device);
            const bool others = across && (station_of(from).dead || station_of(from).driver->unit().device->lost());
            lose(others ? from - 1 : device, others ? station_of(from) : station, ended.status);
        }
        if (is_to_be_tried_again(station, ended)) continue;
        if (ended.order) end_order(*ended.order, std::move(ended.status));
        else if (ended.task) end_task(device, station, ended, progress.done);
        else {
            end_transfer(station, ended);
            progress.copies.push_back(std::move(ended));
        }
    }
    station.overlap.forget_before(station.driver->nothing_new_before());
    return !all.empty();
}

/// A copy that found no memory has done nothing that the same copy would not do again.
bool DeviceMemory::is_to_be_tried_again(Station& station, const DeviceDriver::Ended& ended)
{
    const bool dead = station.dead.load(std::memory_order_relaxed);
    if (ended.task || ended.status.fault != devices::Fault::out_of_memory || dead) return false;
    if (ended.order) return ask_again(*ended.order, station);
    station.starved.push_back({ended.transfer, ended.status, ++station.tries[ended.transfer.id]});
    return true;
}

void DeviceMemory::end_transfer(Station& station, const DeviceDriver::Ended& ended)
{
    const Transfer& transfer = ended.transfer;
    if (!station.tries.empty()) station.tries.erase(transfer.id);
    if (!ended.status.ok()) return end_without(transfer);
    const bool in = transfer.to != 0;
    double& bandwidth =
        in && transfer.from != 0 ? station.from_peer[std::size_t(transfer.from - 1)] : station.bandwidth[in ? 0 : 1];
    const double seen = transfer.bytes / std::max(1e-9, (ended.end_ns - ended.begin_ns) * 1e-9);
    bandwidth += 0.25 * (seen - bandwidth);
    queues_.end(transfer);
    replicas_.complete(transfer.id);
}

/// It has brought nothing. What came from a device that was lost meanwhile counted as being on its way; what is at home on one is
/// lost wherever copies are. `failure`: of the copy, where no device was lost.
void DeviceMemory::end_without(const Transfer& transfer, const std::exception_ptr& failure)
{
    queues_.end(transfer);
    const SpaceId its_home = home_of(transfer.data);
    const bool lost = replicas_.fail(transfer.id);
    if (is_dead(its_home)) lose_datum(transfer.data, station_of(its_home));
    else if (lost && failure) fail_users(transfer.data, failure);
    else if (lost) lose_datum(transfer.data, station_of(transfer.from != home_space ? transfer.from : transfer.to));
}

/// Why a device that is whole has not done the task; none: it has.
std::exception_ptr DeviceMemory::failure_of(const Station& station, const DeviceDriver::Ended& ended)
{
    const bool dead = station.dead.load(std::memory_order_relaxed);
    if (ended.thrown || dead || ended.status.fault != devices::Fault::out_of_memory) return ended.thrown;
    return std::make_exception_ptr(DeviceError(
        ErrorCode::out_of_memory, fmt::format("device '{}': {} in task '{}': {}", station.name(),
                                              devices::word_of(ended.status.fault), ended.task->label, ended.status.what)));
}

/// Kernels end in the order in which the tasks were claimed. What a lost device has computed is not there: its task is to be run
/// by others, and so is one whose body has thrown, or that the device had no memory for.
void DeviceMemory::end_task(int device, Station& station, const DeviceDriver::Ended& ended, std::vector<Done>& done)
{
    Task& task = *ended.task;
    const bool dead = station.dead.load(std::memory_order_relaxed);
    station.claims.pop();
    std::exception_ptr failure = failure_of(station, ended);
    const bool whole = !failure || dead || !ended.touched || is_whole_without(device, task, failure);
    replicas_.release(data_of(task), space_of(device), !dead && !failure);
    if (!dead && !failure) note_last_writes(station, task);
    const bool again = (dead || failure) && whole && task.flow->may_run(task);
    const bool back = again && (task.codelet->core || !failure);
    if (back && failure) for_cores_.emplace(&task, task.flow); // on one device it may fail on any, again and again
    station.takes_less |= back;
    done.push_back({&task, back ? nullptr : std::move(failure), ended.begin_ns, ended.end_ns, back});
}

/// What the task was about to write there is half done. False: its only value was, and who uses it has failed with that.
bool DeviceMemory::is_whole_without(int device, const Task& task, const std::exception_ptr& failure)
{
    const std::vector<const void*> lost = replicas_.spoil(data_of(task), space_of(device));
    for (const void* const datum : lost) fail_users(datum, failure);
    return lost.empty();
}

// ---- what can begin

void DeviceMemory::give_up_blocks(Station& station, Lock& lock)
{
    std::vector<BlockId> blocks;
    std::erase_if(station.released, [&](const ReleasedBlock& released) {
        if (replicas_.under_way(released.reader)) return false;
        blocks.push_back(released.block);
        return true;
    });
    if (blocks.empty()) return;
    const Outside outside(lock);
    for (const BlockId block : blocks) station.driver->give_up(block);
}

/// The host has no memory for what it should bring there.
void DeviceMemory::lack_memory(const Transfer& transfer)
{
    fail_users(transfer.data, std::make_exception_ptr(Error(ErrorCode::out_of_memory, "no memory of the host left for a copy of "
                                                                                      "what is at home on a device")));
    end_without(transfer);
}

/// False: there is no memory for it.
bool DeviceMemory::start_copy_in(int device, Station& station, const Transfer& transfer, Lock& lock)
{
    void* place = nullptr;
    const bool has_home = transfer.to_block == home_memory;
    if (!has_home && !find_room(device, station, transfer.to_block, transfer.bytes, place, lock)) return false;
    void* const host = transfer.from == 0 ? host_place(transfer, transfer.from_block) : nullptr;
    const Outside outside(lock);
    if (transfer.from == 0) station.driver->copy_in(transfer, host);
    else station.driver->copy_across(*station_of(transfer.from).driver, transfer);
    return true;
}

/// Two in each direction, so that the next one begins while the end of one is being told; in the order of one at a time, which is
/// that of simulations. They end at once, and nothing is copied, where a device is lost or what they should copy did not come:
/// true when any did.
bool DeviceMemory::start_transfers(int device, Station& station, Lock& lock)
{
    constexpr std::size_t at_a_time = 2;
    const SpaceId space = space_of(device);
    bool ended = false;
    for (const Queue queue : {Queue::in, Queue::out}) {
        const bool in = queue == Queue::in;
        const TransferQueues::Queue planned = in ? space : replicas_.spaces() + space;
        for (std::size_t before; (before = station.driver->in_flight(queue)) < at_a_time;) {
            const std::optional<Transfer> transfer = before ? queues_.begin_early(planned) : queues_.begin(planned);
            if (!transfer) break;
            ended |= !start(device, station, *transfer, lock);
        }
    }
    return ended;
}

/// False: it has ended without.
bool DeviceMemory::start(int device, Station& station, const Transfer& transfer, Lock& lock)
{
    const bool in = transfer.to == space_of(device);
    const bool vain = is_dead(transfer.from) || is_dead(transfer.to) || replicas_.brings_nothing(transfer.id);
    if (vain || (in && !start_copy_in(device, station, transfer, lock))) {
        end_without(transfer);
        return false;
    }
    if (in) return true;
    void* const host = host_place(transfer, transfer.to_block);
    if (!host) {
        lack_memory(transfer);
        return false;
    }
    const Outside outside(lock);
    station.driver->copy_out(transfer, host);
    return true;
}

/// Copies that found no memory: once more when what nobody uses has been given up, and once more when nothing else is under way.
/// Then they have failed. True when any did.
bool DeviceMemory::start_starved(int device, Station& station, Lock& lock)
{
    constexpr int most = 3;
    bool ended = false;
    const auto is_idle = [&] {
        return std::ranges::all_of(std::array{Queue::in, Queue::kernels, Queue::out},
                                   [&](Queue queue) { return station.driver->in_flight(queue) == 0; });
    };
    for (Starved& starved : std::exchange(station.starved, {})) {
        const bool now = starved.tries == 1 || is_idle();
        if (starved.tries < most && !now) station.starved.push_back(std::move(starved));
        else if (starved.tries < most) {
            make_room(device, station, lock);
            if (start(device, station, starved.transfer, lock)) continue;
            station.tries.erase(starved.transfer.id);
            ended = true;
        } else {
            leave_starved(device, station, starved);
            ended = true;
        }
    }
    return ended;
}

/// Tasks that have it copied there are others'. What should come home does not, and its calls fail: they would ask for it for
/// ever.
void DeviceMemory::leave_starved(int device, Station& station, const Starved& starved)
{
    const Transfer& transfer = starved.transfer;
    station.tries.erase(transfer.id);
    const std::exception_ptr failure = std::make_exception_ptr(
        DeviceError(ErrorCode::out_of_memory, fmt::format("device '{}': {} in a copy: {}", station.name(),
                                                          devices::word_of(starved.status.fault), starved.status.what)));
    const auto uses = [&](const TaskDatum& datum) { return datum.data == transfer.data; };
    if (transfer.to != space_of(device) || transfer.to_block == home_memory) fail_users(transfer.data, failure);
    for (Claims::Claim& claim : station.claims)
        if (!claim.begun && std::ranges::any_of(data_of(*claim.task), uses)) claim.failure = failure;
    end_without(transfer, failure);
}

/// In their order, as far as what they need is there. Only the device's worker adds claims and takes them away.
std::vector<DeviceMemory::Launch> DeviceMemory::ready_claims(int device, Station& station, Lock& lock)
{
    std::vector<Launch> launches;
    for (Claims::Claim& claim : station.claims) {
        if (claim.begun) continue;
        if (station.dead.load(std::memory_order_relaxed) || !claim.acquired || !queues_.complete(claim.wait_for)) break;
        if (!claim.task->flow->may_run(*claim.task)) break;
        Launch launch{claim.task, {}};
        claim.missed = !replicas_.has_all(data_of(*claim.task), space_of(device));
        if (claim.missed) break;
        claim.broken = !find_operands(device, station, *claim.task, launch.operands, lock);
        if (claim.broken) break;
        claim.begun = true;
        launches.push_back(std::move(launch));
    }
    return launches;
}

/// Where they are in the device's memory; what is only written gets memory now. False: there is none.
bool DeviceMemory::find_operands(int device, Station& station, const Task& task, std::vector<Operand>& operands, Lock& lock)
{
    for (int i = 0; i < task.access_count; ++i) {
        const Datum& datum = task.data[i];
        const DatumShape shape = replicas_.shape(datum.address);
        if (home_of(datum.address) == space_of(device)) {
            operands.push_back({const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols});
            continue;
        }
        void* place = nullptr;
        const BlockId block = replicas_.block(datum.address, space_of(device));
        if (!find_room(device, station, block, replicas_.bytes(datum.address), place, lock)) return false;
        operands.push_back({place, shape.element ? shape.rows : datum.ld, datum.rows, datum.cols});
    }
    return true;
}

/// The memory of a block. Where the device has less than was counted, what nobody uses is given up; where that is not enough, it
/// is no longer counted on.
bool DeviceMemory::find_room(int device, Station& station, BlockId block, Bytes bytes, void*& place, Lock& lock)
{
    const auto find = [&] {
        const Outside outside(lock);
        return station.driver->find(block, bytes, place);
    };
    if (station.driver->knows(block)) return station.driver->find(block, bytes, place).ok();
    const Status status = find();
    if (status.ok()) return true;
    if (status.fault != devices::Fault::out_of_memory) {
        lose(device, station, status);
        return false;
    }
    make_room(device, station, lock);
    if (find().ok()) return true;
    station.capacity = std::max(1.0, station.driver->bytes());
    set_limit(device);
    station.takes_less = true;
    return false;
}

/// What the device has for itself goes, and copies that nobody uses, at once as far as nothing must be saved first.
void DeviceMemory::make_room(int device, Station& station, Lock& lock)
{
    Plan plan;
    replicas_.make_room(space_of(device), plan);
    add_transfers(plan.transfers);
    station.released.insert(station.released.end(), plan.released.begin(), plan.released.end());
    give_up_blocks(station, lock);
    const Outside outside(lock);
    station.driver->unit().device->give_up_spare();
}

/// The first ones, while they cannot run: their data cannot come, their flow was cancelled, the device is lost. They go back to
/// where they came from, where others can run them, or whoever finds elsewhere what did not come; what is nowhere else has had
/// the flow fail, and then they are over. Whether there are any others for those of devices alone the engine knows.
bool DeviceMemory::drop_claims(int device, Station& station, std::vector<Done>& done)
{
    const std::size_t before = done.size();
    while (!station.claims.empty() && !station.claims.front().begun) {
        const Claims::Claim& claim = station.claims.front();
        Task& task = *claim.task;
        const bool dead = station.dead.load(std::memory_order_relaxed), stopped = !task.flow->may_run(task);
        if (!claim.impossible && !claim.broken && !claim.missed && !dead && !stopped) break;
        const bool lost = claim.missed && task.flow->has_failed(), disagrees = claim.failure && !task.codelet->core;
        const bool back = !stopped && !lost && !disagrees;
        std::exception_ptr failure = claim.failure;
        station.takes_less |= back;
        if (back && claim.missed && failure) for_cores_.emplace(&task, task.flow);
        if (claim.acquired) replicas_.release(data_of(task), space_of(device), false);
        station.claims.pop();
        done.push_back({&task, back ? nullptr : std::move(failure), 0, 0, back});
    }
    return done.size() > before;
}

// ---- faults

/// What it held is elsewhere as well, or lost.
void DeviceMemory::lose(int device, Station& station, const Status& status)
{
    if (station.dead.exchange(true, std::memory_order_relaxed)) return;
    station.fault = status;
    station.takes_less = true;
    for (const void* const datum : replicas_.lose(space_of(device))) lose_datum(datum, station);
}

/// Its only value was there: the flows that use it have failed.
void DeviceMemory::lose_datum(const void* data, const Station& station)
{
    fail_users(data, error_of(station, station.fault, "what it held"));
}

void DeviceMemory::fail_users(const void* data, const std::exception_ptr& failure)
{
    const auto users = users_.find(data);
    if (users == users_.end()) return;
    for (TaskFlow* const flow : users->second) flow->fail(failure);
}

} // namespace trencadis
