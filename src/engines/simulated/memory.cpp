// Data in several memories: what tasks need is brought first; devices take a second task while the first runs.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"

#include <algorithm>

namespace trencadis::simulated {

bool VirtualEngine::complete(const std::vector<TransferId>& transfers) const
{
    return std::none_of(transfers.begin(), transfers.end(), [this](TransferId id) { return replicas_->under_way(id); });
}

void VirtualEngine::wait_for_data(Unit& unit)
{
    const Seconds begin = now();
    data_waiters_.push_back(unit.holder->actor);
    pause();
    record(unit, "idle", 0, begin, 0, EventKind::idle);
}

/// Brings what a task on a core needs into its memory. A device's data come with its claims.
void VirtualEngine::fetch(Unit& unit, Task& task)
{
    if (unit.device >= 0) return;
    std::vector<TaskDatum> data;
    data_of(task, data);
    unit.waits_for = &task;
    while (true) {
        Plan plan = replicas_->acquire(data, unit.space);
        if (plan.verdict == Verdict::never)
            throw Error(ErrorCode::out_of_memory, std::string("the data of task '") + task.label + "' do not fit into " +
                                                      replicas_->space(unit.space).name);
        if (plan.verdict == Verdict::now) {
            carry_out(plan.transfers);
            while (!complete(plan.wait_for)) wait_for_data(unit);
            unit.waits_for = nullptr;
            return touch_remote(plan.remote);
        }
        wait_for_data(unit);
    }
}

void VirtualEngine::release_data(Unit& unit, const Task& task)
{
    if (!has_memory(task)) return;
    replicas_->release(data_of(task, data_), unit.space);
    data_changed();
}

/// A core uses remote memory of its host in place: what it reads comes over the links before it computes on it, as when a kernel
/// packs its operands, and what it writes goes back.
void VirtualEngine::touch_remote(const std::vector<RemoteUse>& uses)
{
    for (const RemoteUse& use : uses) {
        send_wakes();
        const int cores = place_of_cores(machine_, use.from);
        time_->transfer(use.at, cores, use.bytes);
        if (use.writes) time_->transfer(cores, use.at, use.bytes);
    }
}

/// Something arrived, or memory became free: who waited for that looks again.
void VirtualEngine::data_changed()
{
    acquire_claims();
    wakes_.insert(wakes_.end(), data_waiters_.begin(), data_waiters_.end());
    data_waiters_.clear();
}

// ---- devices --------------------------------------------------------------------------------------------------

void VirtualEngine::work_device(Unit& unit)
{
    while (!stop_) {
        if (unit.claims.empty()) {
            if (const Found found = ask(unit)) claim(unit, *found.task);
        }
        serve(); // those who have nothing come before a second task for this one
        if (!unit.claims.empty()) run_claim(unit);
        else if (const Found found = idle(unit, nullptr)) claim(unit, *found.task);
    }
}

void VirtualEngine::claim(Unit& unit, Task& task)
{
    unit.claims.push_back({&task, !has_memory(task), false, {}, run_time(task, unit.id)});
    acquire_claims();
}

/// Begins to fetch what claimed tasks need, in their order, as far as the devices' memory goes.
void VirtualEngine::acquire_claims()
{
    for (const WorkerId device : devices_) {
        Unit& unit = *units_[device];
        for (Claim& claim : unit.claims) {
            if (claim.acquired || claim.impossible) continue;
            Plan plan = replicas_->acquire(data_of(*claim.task, data_), unit.space);
            if (plan.verdict == Verdict::later) break;
            claim.impossible = plan.verdict == Verdict::never;
            claim.acquired = !claim.impossible;
            claim.wait_for = std::move(plan.wait_for);
            carry_out(plan.transfers);
        }
    }
}

void VirtualEngine::run_claim(Unit& unit)
{
    while (!stop_ && !unit.claims.front().impossible && !(unit.claims.front().acquired && complete(unit.claims.front().wait_for)))
        wait_for_data(unit);
    if (stop_) return;
    Task& task = *unit.claims.front().task;
    if (unit.claims.front().impossible) {
        unit.claims.pop_front();
        const Error failure(ErrorCode::out_of_memory,
                            std::string("the data of task '") + task.label + "' do not fit into " + unit.name);
        return conclude(unit, task, std::make_exception_ptr(failure), 0);
    }
    if (task.flow->may_run(task)) return execute(unit, task, false);
    release_data(unit, task);
    unit.claims.pop_front();
    conclude(unit, task, nullptr, 0);
}

// ---- transfers ------------------------------------------------------------------------------------------------

/// One queue into each device and one out of it, as its two copy engines; one into each other memory.
Stream& VirtualEngine::stream_of(const Transfer& transfer)
{
    const int nodes = static_cast<int>(machine_.nodes.size()), spaces = replicas_->spaces();
    const int place = transfer.to >= nodes || transfer.from < nodes ? transfer.to : spaces + transfer.from;
    if (streams_.empty()) streams_.resize(2 * spaces);
    if (!streams_[place]) streams_[place] = std::make_unique<Stream>();
    return *streams_[place];
}

void VirtualEngine::carry_out(std::vector<Transfer>& transfers)
{
    for (Transfer& transfer : transfers) {
        Stream& stream = stream_of(transfer);
        stream.queue.push_back(std::move(transfer));
        if (stream.actor < 0) stream.actor = start(nullptr, [this, &stream] { move(stream); });
        else if (stream.waits) wakes_.push_back(stream.actor);
    }
    transfers.clear();
}

void VirtualEngine::move(Stream& stream)
{
    while (!stop_) {
        const auto next = std::find_if(stream.queue.begin(), stream.queue.end(), [this](const Transfer& transfer) {
            return complete(transfer.after) && free_for(transfer);
        });
        if (next == stream.queue.end()) {
            stream.waits = true;
            pause();
            stream.waits = false;
            continue;
        }
        const Transfer transfer = std::move(*next);
        stream.queue.erase(next);
        for (const SpaceId end : {transfer.from, transfer.to}) engage(end, true);
        send_wakes();
        time_->transfer(transfer.from, transfer.to, transfer.bytes);
        for (const SpaceId end : {transfer.from, transfer.to}) engage(end, false);
        replicas_->complete(transfer.id);
        data_changed();
        wake_streams();
    }
    send_wakes();
}

void VirtualEngine::wake_streams()
{
    for (const auto& stream : streams_)
        if (stream && stream->waits) wakes_.push_back(stream->actor);
}

// ---- one stream: a device does one thing at a time ------------------------------------------------------------

bool VirtualEngine::free_for(const Transfer& transfer) const { return !engaged_[transfer.from] && !engaged_[transfer.to]; }

void VirtualEngine::engage(SpaceId space, bool on)
{
    if (options_.one_stream && space >= static_cast<SpaceId>(machine_.nodes.size())) engaged_[space] = on;
}

} // namespace trencadis::simulated
