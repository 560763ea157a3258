// Data in several memories: what tasks need is brought first; devices take a second task while the first runs.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"

#include <algorithm>

namespace trencadis::simulated {

void VirtualEngine::wait_for_data(Worker& worker)
{
    const Seconds begin = now();
    data_waiters_.push_back(worker.holder->actor);
    pause();
    record(worker, "idle", 0, begin, 0, EventKind::idle);
}

/// Brings what a task on a core needs into its memory. A device's data come with its claims.
void VirtualEngine::fetch(Worker& worker, Task& task)
{
    if (worker.device >= 0) return;
    std::vector<TaskDatum> data;
    data_of(task, data);
    note_taken(worker, task);
    worker.waits_for = &task;
    while (true) {
        Plan plan = replicas_->acquire(data, worker.space);
        if (plan.verdict == Verdict::never)
            throw Error(ErrorCode::out_of_memory, std::string("the data of task '") + task.label + "' do not fit into " +
                                                      replicas_->space(worker.space).name);
        if (plan.verdict == Verdict::now) {
            queue_behind(worker, plan.transfers);
            carry_out(plan.transfers);
            while (!transfers_->complete(plan.wait_for)) wait_for_data(worker);
            worker.waits_for = nullptr;
            return touch_remote(worker, plan.remote);
        }
        wait_for_data(worker);
    }
}

void VirtualEngine::note_taken(const Worker& worker, const Task& task) const
{
    if (parts_.memory_log) parts_.memory_log({.what = MemoryEvent::What::take, .space = worker.space, .task = order_of(task)});
}

void VirtualEngine::release_data(Worker& worker, const Task& task)
{
    if (!has_memory(task)) return;
    replicas_->release(data_of(task, data_), worker.space);
    data_changed();
}

/// A core has only so many bytes of memory under way: each time it has got them, it waits again as long as the memory is further
/// away than its own, which is what its kernels' times are of.
Seconds VirtualEngine::waiting_for_lines(const Worker& worker, const RemoteUse& use) const
{
    const Bytes under_way = machine_.kinds[worker.kind].bytes_under_way;
    return under_way > 0 ? use.bytes / under_way * routes_->between(use.at, use.from).latency : 0;
}

/// A core uses remote memory of its host in place: what it reads comes over the links before it computes on it, as when a kernel
/// packs its operands, and what it writes goes back.
void VirtualEngine::touch_remote(Worker& worker, const std::vector<RemoteUse>& uses)
{
    for (const RemoteUse& use : uses) {
        send_wakes();
        const Seconds begin = now();
        const int cores = place_of_cores(machine_, use.from);
        time_->transfer(use.at, cores, use.bytes, waiting_for_lines(worker, use));
        if (use.writes) time_->transfer(cores, use.at, use.bytes);
        worker.polling += now() - begin;
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

/// The protocol's loop takes one task; what a device has beside it comes from `serve`, so that those who have nothing come first.
void VirtualEngine::start(Worker& worker, Task& task)
{
    claim(worker, task);
    serve();
    worker.served = true;
}

/// What its last task released does not wait until the one beside it is over.
void VirtualEngine::await(Worker& worker)
{
    push_released(worker);
    if (!std::exchange(worker.served, false)) serve();
    if (stop_) worker.in_flight = 0; // nobody waits for what it has taken
    else run_claim(worker);
}

void VirtualEngine::claim(Worker& worker, Task& task)
{
    if (has_memory(task)) note_taken(worker, task);
    worker.claims.add(task, has_memory(task), run_time(task, worker.id));
    acquire_claims();
}

/// What the device took first is over.
void VirtualEngine::end_claim(Worker& worker)
{
    worker.claims.pop();
    --worker.in_flight;
}

/// Begins to fetch what claimed tasks need, as far as the devices' memory goes.
void VirtualEngine::acquire_claims()
{
    std::vector<Transfer> transfers;
    std::vector<ReleasedBlock> released; // of memory that is only counted
    for (const WorkerId device : devices_)
        if (Worker& worker = *workers_[device]; !worker.claims.empty()) {
            const std::size_t before = transfers.size();
            worker.claims.acquire(*replicas_, worker.space, transfers, released);
            queue_behind(worker, std::span(transfers).subspan(before));
        }
    carry_out(transfers);
}

void VirtualEngine::run_claim(Worker& worker)
{
    const auto waits = [&](const Claims::Claim& claim) {
        return !claim.impossible && !(claim.acquired && transfers_->complete(claim.wait_for));
    };
    while (!stop_ && waits(worker.claims.front())) wait_for_data(worker);
    if (stop_) return;
    Task& task = *worker.claims.front().task;
    if (worker.claims.front().impossible) {
        std::exception_ptr failure = worker.claims.front().failure;
        end_claim(worker);
        if (!failure)
            failure = std::make_exception_ptr(Error(ErrorCode::out_of_memory, std::string("the data of task '") + task.label +
                                                                                  "' do not fit into " + worker.name));
        return conclude(worker, task, std::move(failure), 0);
    }
    if (task.flow->may_run(task)) return execute(worker, task, false);
    release_data(worker, task);
    end_claim(worker);
    conclude(worker, task, nullptr, 0);
}

// ---- transfers ------------------------------------------------------------------------------------------------

/// Where a worker's thread fetches what other devices have itself, each of its transfers begins after the last of those.
void VirtualEngine::queue_behind(Worker& worker, std::span<Transfer> transfers) const
{
    if (!options_.fetch_and_wait) return;
    const auto nodes = static_cast<SpaceId>(machine_.nodes.size());
    for (Transfer& transfer : transfers) {
        if (worker.last_fetch != no_transfer) transfer.after.push_back(worker.last_fetch);
        if (transfer.from >= nodes && transfer.from != worker.space) worker.last_fetch = transfer.id;
    }
}

/// Until the thread that drives a device looks at anything again.
void VirtualEngine::wait_for_fetches(Worker& worker)
{
    if (worker.device < 0 || !options_.fetch_and_wait) return;
    while (!stop_ && replicas_->under_way(worker.last_fetch)) wait_for_data(worker);
}

void VirtualEngine::carry_out(std::vector<Transfer>& transfers)
{
    for (Transfer& transfer : transfers) {
        const TransferQueues::Queue queue = transfers_->add(std::move(transfer));
        Mover& mover = movers_[std::size_t(queue)];
        if (mover.actor < 0) mover.actor = start(nullptr, [this, queue] { move(queue); });
        else if (mover.waits) wakes_.push_back(mover.actor);
    }
    transfers.clear();
}

void VirtualEngine::move(TransferQueues::Queue queue)
{
    while (!stop_) {
        const std::optional<Transfer> transfer = transfers_->begin(queue);
        if (!transfer) {
            movers_[std::size_t(queue)].waits = true;
            pause();
            movers_[std::size_t(queue)].waits = false;
            continue;
        }
        send_wakes();
        time_->transfer(transfer->from, transfer->to, transfer->bytes);
        transfers_->end(*transfer);
        replicas_->complete(transfer->id);
        data_changed();
        wake_movers();
    }
    send_wakes();
}

void VirtualEngine::wake_movers()
{
    for (const Mover& mover : movers_)
        if (mover.waits) wakes_.push_back(mover.actor);
}

} // namespace trencadis::simulated
