#include "engines/devices/device_memory.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

namespace trencadis {
namespace {

constexpr SpaceId home = 0;

std::vector<Space> spaces_of(std::span<const DeviceUnit> units)
{
    std::vector<Space> spaces{{"memory", 0, 0}};
    for (const DeviceUnit& unit : units) spaces.push_back({unit.device->name(), unit.device->bytes(), -1});
    return spaces;
}

} // namespace

DeviceMemory::DeviceMemory(std::span<const DeviceUnit> units, Habits habits, std::function<void(int)> wake)
    : habits_(std::move(habits)), wake_(std::move(wake)), pages_(units),
      replicas_(spaces_of(units), {.cost = [this](SpaceId from, SpaceId to, Bytes bytes) { return cost(from, to, bytes); },
                                   .home = [this](const void* data, Bytes, SpaceId) { return home_of(data); },
                                   .log = habits_.log}),
      queues_(replicas_, home + 1, false)
{
    for (const DeviceUnit& unit : units) {
        const int device = devices();
        stations_.push_back(std::make_unique<Station>());
        for (const int way : {0, 1})
            if (unit.bytes_per_second[way] > 0) stations_.back()->bandwidth[way] = unit.bytes_per_second[way];
        stations_.back()->driver = std::make_unique<DeviceDriver>(unit, pages_.of(device), [this, device] { call(device); });
    }
    for (int device = 0; device < devices(); ++device)
        stations_[std::size_t(device)]->capacity = units[std::size_t(device)].device->bytes();
    for (const auto& to : stations_) // as fast as from the host, until one is seen
        for (const auto& from : stations_)
            to->from_peer.push_back(to != from && to->driver->reaches(*from->driver) ? to->bandwidth[0] : 0);
}

/// Before the memory of any of them goes, from which others may copy.
DeviceMemory::~DeviceMemory()
{
    for (const auto& station : stations_) station->driver->finish();
}

/// Between devices by way of the host where they do not reach each other.
Seconds DeviceMemory::cost(SpaceId from, SpaceId to, Bytes bytes) const
{
    constexpr Seconds last_resort = 1e30; // a source when there is no other
    const bool across = from != home && to != home;
    const double bandwidth = across         ? station_of(to).from_peer[std::size_t(from - 1)]
                             : from == home ? station_of(to).bandwidth[0]
                                            : station_of(from).bandwidth[1];
    if (bandwidth <= 0 || (across && is_dead(from))) return std::numeric_limits<Seconds>::infinity();
    return is_dead(from) || is_dead(to) ? last_resort : bytes / bandwidth;
}

void DeviceMemory::call(int device)
{
    stations_[std::size_t(device)]->news.store(true, std::memory_order_seq_cst);
    wake_(device);
}

/// Something moved or was given back: whoever waits for that looks again.
void DeviceMemory::call_all()
{
    changed_.notify_all();
    for (int device = 0; device < devices(); ++device) call(device);
}

bool DeviceMemory::has_news(int device) const { return stations_[std::size_t(device)]->news.load(std::memory_order_seq_cst); }

/// Which memory node they lie on does not matter here.
std::vector<TaskDatum> DeviceMemory::data_of(const Task& task) const
{
    std::vector<TaskDatum> data;
    trencadis::data_of(task, data);
    for (TaskDatum& datum : data) datum.home = home_of(datum.data);
    return data;
}

/// Operands of a call may be one matrix, cut in two ways; both are only read. A core reads it as it lies, but for what is at home
/// on a device, of which it has a copy that is cut in one way.
std::vector<TaskDatum> DeviceMemory::data_at_home(const Task& task) const
{
    std::vector<TaskDatum> data = data_of(task);
    for (TaskDatum& datum : data)
        if (datum.home == home && !replicas_.agrees(datum)) datum = {datum.data, 0, datum.mode, home};
    return data;
}

// ---- questions

bool DeviceMemory::takes(const Task& task, int device) const
{
    const Station& station = *stations_[std::size_t(device)];
    if (!tracks(task) || !(task.flow->options().devices >> device & 1)) return false;
    if (station.dead.load(std::memory_order_relaxed) || task.flow->float_modes() != FloatModes()) return false;
    if (names_two_ways(task)) return false;
    const std::lock_guard lock(mutex_);
    const std::vector<TaskDatum> data = data_of(task);
    const auto moves = [](const TaskDatum& datum) {
        const bool alone = datum.mode != AccessMode::concurrent_write && datum.mode != AccessMode::reduce;
        return alone && datum.bytes > 0;
    };
    if (!std::all_of(data.begin(), data.end(), moves)) return false;
    if (!for_cores_.empty() && for_cores_.contains(&task)) return false;
    const bool alone = !task.codelet->core; // then it fails with what disagrees
    const auto agrees = [&](const TaskDatum& datum) {
        return alone || replicas_.agrees(datum) || (!kept_.empty() && !is_used(datum.data)); // what was kept makes way
    };
    return std::all_of(data.begin(), data.end(), agrees) && replicas_.fits(data, space_of(device));
}

Seconds DeviceMemory::transfer_time(const Task& task, SpaceId space) const
{
    if (!tracks(task)) return 0;
    const std::lock_guard lock(mutex_);
    return replicas_.transfer_time(data_of(task), space);
}

Bytes DeviceMemory::valid_bytes(const Task& task, SpaceId space) const
{
    if (!tracks(task)) return 0;
    const std::lock_guard lock(mutex_);
    return replicas_.valid_bytes(data_of(task), space);
}

bool DeviceMemory::holds_written(const Task& task, SpaceId space) const
{
    if (!tracks(task)) return space == home;
    const std::lock_guard lock(mutex_);
    return replicas_.holds_written(data_of(task), space);
}

Seconds DeviceMemory::claimed(int device) const
{
    const std::lock_guard lock(mutex_);
    Seconds sum = 0;
    for (const Claims::Claim& claim : stations_[std::size_t(device)]->claims) sum += claim.expected;
    return sum;
}

std::vector<DeviceTraffic> DeviceMemory::traffic() const
{
    const std::lock_guard lock(mutex_);
    const MemoryStatistics all = replicas_.statistics();
    std::vector<DeviceTraffic> rows;
    for (int device = 0; device < devices(); ++device) {
        const std::size_t space = std::size_t(space_of(device)), spaces = all.spaces.size();
        const SpaceStatistics& its = all.spaces[space];
        const Station& station = *stations_[std::size_t(device)];
        Bytes across = 0;
        for (std::size_t from = 1; from < spaces; ++from) across += all.between[from * spaces + space].bytes;
        rows.push_back(
            {station.name(), all.between[space].bytes, all.between[space * spaces].bytes, its.hits + its.joined, its.misses,
             its.evictions, its.peak_bytes, station.overlap.copies(), station.overlap.computing(), station.overlap.together(),
             across, station.driver->staged(),
             station.fault.ok() ? "" : fmt::format("{}: {}", devices::word_of(station.fault.fault), station.fault.what)});
    }
    return rows;
}

void DeviceMemory::note_taken(const Task& task, SpaceId space) const
{
    if (habits_.log) habits_.log({.what = MemoryEvent::What::take, .space = space, .task = order_of(task)});
}

// ---- who uses what

void DeviceMemory::note_use(TaskFlow& flow, std::span<const TaskDatum> data)
{
    for (const TaskDatum& datum : data) {
        if (!kept_.empty() && !is_used(datum.data)) make_way(datum);
        std::vector<TaskFlow*>& users = users_[datum.data];
        if (std::find(users.begin(), users.end(), &flow) != users.end()) continue;
        users.push_back(&flow);
        used_by_[&flow].push_back(datum.data);
    }
}

/// Other flows may still use it. Copies are kept only of a flow that has ended whole, when there is no other: one that was
/// stopped may have left them other than what is at home, of one that failed a task may have left one half written, and another
/// flow may have the same memory in other tiles.
void DeviceMemory::forget(const void* data, const TaskFlow& flow, bool stopped, Lock& lock)
{
    std::erase(users_[data], &flow);
    if (!users_[data].empty()) return;
    changed_.wait(lock, [&] { return !replicas_.in_use(data); });
    if (!users_[data].empty()) return; // since a moment ago
    users_.erase(data);
    if (keep_copies(data, !stopped && used_by_.size() == 1)) return;
    replicas_.forget(data);
}

// ---- cores and owners

void DeviceMemory::add_transfers(std::vector<Transfer>& transfers)
{
    for (Transfer& transfer : transfers) queues_.add(std::move(transfer));
    if (!transfers.empty()) call_all();
    transfers.clear();
}

/// Takes the data at home, and waits until they are there. What they are named like is looked at anew after each wait. What did
/// not come is asked for again, from where it is as well. Nothing: it is nowhere else, and the flow has failed with that.
std::optional<std::vector<TaskDatum>> DeviceMemory::await_data(const Task& task, Lock& lock)
{
    while (true) {
        std::vector<TaskDatum> data = data_at_home(task);
        Plan plan = replicas_.acquire(data, home);
        if (plan.verdict == Verdict::now) {
            for (Transfer& transfer : plan.transfers) transfer.asked_by = order_of(task);
            add_transfers(plan.transfers);
            changed_.wait(lock, [&] { return queues_.complete(plan.wait_for); });
            const bool may_run = task.flow->may_run(task); // else what counts as there may be what was lost
            if (may_run && replicas_.has_all(data, home)) return data;
            replicas_.release(data, home, false);
            call_all();
            if (!may_run || task.flow->has_failed()) return std::nullopt;
            continue;
        }
        changed_.wait(lock);
    }
}

bool DeviceMemory::fetch(Task& task)
{
    Lock lock(mutex_);
    require_one_way(task);
    note_taken(task, home);
    note_use(*task.flow, data_of(task)); // first, so that what was kept otherwise makes way
    std::optional<std::vector<TaskDatum>> data = await_data(task, lock);
    if (!data) return false;
    OnHostFor has{std::move(*data), {}};
    try {
        has.operands = operands_on_host(task);
    } catch (...) {
        replicas_.release(has.data, home, false);
        call_all();
        throw;
    }
    const OnHostFor& its = on_host_.emplace(&task, std::move(has)).first->second;
    if (!its.operands.empty()) task.brought = its.operands.data();
    return true;
}

void DeviceMemory::release(Task& task)
{
    const std::lock_guard lock(mutex_);
    for_cores_.erase(&task);
    const auto found = on_host_.find(&task);
    if (found == on_host_.end()) return;
    task.brought = nullptr;
    replicas_.release(found->second.data, home);
    on_host_.erase(found);
    call_all();
}

/// Of those that come home for this flow alone and have not begun.
void DeviceMemory::leave_out_waiting(const TaskFlow& flow)
{
    const auto is_its = [&](const Transfer& transfer) {
        const auto users = users_.find(transfer.data);
        return (transfer.to == home || transfer.to == home_of(transfer.data)) && users != users_.end() &&
               users->second == std::vector<TaskFlow*>{const_cast<TaskFlow*>(&flow)};
    };
    for (const Transfer& transfer : queues_.take_waiting(is_its)) (void)replicas_.fail(transfer.id); // it is not told
    call_all();
}

/// Of what was to come home, what did not, and is worth another try: nothing is once the flow has failed.
bool DeviceMemory::is_left_away(std::vector<const void*>& data, const TaskFlow& flow)
{
    for (const void* const datum : data) fail_where_lost(datum);
    std::erase_if(data, [&](const void* datum) {
        return replicas_.has_all(std::array{TaskDatum{datum, 0, AccessMode::read}}, home_of(datum));
    });
    return !data.empty() && !flow.has_failed();
}

void DeviceMemory::settle(TaskFlow& flow, const std::function<bool()>& stop)
{
    constexpr std::chrono::milliseconds often(20);
    Lock lock(mutex_);
    end_going_home(flow);
    const auto found = used_by_.find(&flow);
    if (found == used_by_.end()) return;
    const std::vector<const void*> data = std::move(found->second);
    const auto read = [this](const void* datum) { return TaskDatum{datum, 0, AccessMode::read, home_of(datum)}; };
    bool stopped = false;
    const auto asked = [&] { // without our lock: what it asks may wait for somebody who asks us something
        lock.unlock();
        const bool yes = stop();
        lock.lock();
        return yes;
    };
    const auto wait = [&](auto&& over) {
        while (!over()) {
            if (!stop || stopped) changed_.wait(lock);
            else if (changed_.wait_for(lock, often); asked()) {
                stopped = true;
                leave_out_waiting(flow);
            }
        }
    };
    const auto bring = [&](const std::vector<const void*>& those) {
        std::vector<TransferId> arriving;
        for (const void* datum : those) { // all begin to come before any is waited for
            Plan plan;
            wait([&] { return (plan = replicas_.acquire(std::array{read(datum)}, home_of(datum))).verdict == Verdict::now; });
            add_transfers(plan.transfers);
            arriving.insert(arriving.end(), plan.wait_for.begin(), plan.wait_for.end());
            if (stopped) leave_out_waiting(flow);
        }
        wait([&] { return queues_.complete(arriving); });
    };
    std::vector<const void*> away = data;
    for (bring(away); !stopped && is_left_away(away, flow); bring(away)) // what did not come may be elsewhere as well
        for (const void* datum : away) replicas_.release(std::array{read(datum)}, home_of(datum));
    for (const void* datum : data) {
        replicas_.release(std::array{read(datum)}, home_of(datum));
        forget(datum, flow, stopped || flow.has_failed(), lock);
    }
    used_by_.erase(&flow);
    std::erase_if(for_cores_, [&](const auto& task) { return task.second == &flow; }); // of one that failed, those that never ran
    give_up_host_blocks();
    call_all();
}

// ---- what devices take

void DeviceMemory::claim(int device, Task& task, Seconds expected)
{
    const std::lock_guard lock(mutex_);
    note_taken(task, space_of(device));
    note_use(*task.flow, data_of(task));
    stations_[std::size_t(device)]->claims.add(task, true, expected);
    acquire_claims();
}

/// As far as the devices' memory goes, in the order of the devices.
void DeviceMemory::acquire_claims()
{
    std::vector<Transfer> transfers;
    for (int device = 0; device < devices(); ++device) {
        Station& station = *stations_[std::size_t(device)];
        if (station.dead.load(std::memory_order_relaxed) || station.claims.empty()) continue;
        station.claims.acquire(replicas_, space_of(device), transfers, station.released);
    }
    add_transfers(transfers);
}

} // namespace trencadis
