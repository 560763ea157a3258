#include "engines/native/engine.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <limits>

namespace trencadis {

/// What cannot be asked yet fails when the task runs.
Index NativeEngine::chunks_of(const Task& task, WorkerId worker) const
{
    if (is_device(worker)) return 1;
    try {
        const SameSums sums(task.flow->float_modes().same_sums());
        return units_[std::size_t(worker)].chunks(*task.codelet, task.args);
    } catch (...) {
        return 1;
    }
}

Index NativeEngine::chunks_left(WorkerId worker) const
{
    const Share* share = workers_[worker]->offer.load(std::memory_order_acquire);
    return share ? share->chunks_left() : 0;
}

double NativeEngine::shared_priority(WorkerId worker) const
{
    const Share* share = workers_[worker]->offer.load(std::memory_order_acquire);
    return share ? share->priority() : 0;
}

int NativeEngine::shared_node(WorkerId worker) const
{
    const Share* share = workers_[worker]->offer.load(std::memory_order_acquire);
    return share && binds(share->node()) ? share->node() : any_node;
}

Seconds NativeEngine::chunk_time(WorkerId owner, WorkerId by) const
{
    const Share* share = workers_[owner]->offer.load(std::memory_order_acquire);
    return share ? share->chunk_time(speeds_, by, now()) : 0;
}

Seconds NativeEngine::now() const { return now_ns() * 1e-9; }

int NativeEngine::node(WorkerId worker) const
{
    if (!devices_) return workers_[std::size_t(worker)]->place.node;
    return is_device(worker) ? devices_->space_of(device_of(worker)) : 0;
}

Seconds NativeEngine::transfer_time(const Task& task, WorkerId worker) const
{
    return devices_ ? devices_->transfer_time(task, node(worker)) : memory_.transfer_time(task, node(worker));
}

Bytes NativeEngine::valid_bytes(const Task& task, WorkerId worker) const
{
    return devices_ ? devices_->valid_bytes(task, node(worker)) : memory_.valid_bytes(task, node(worker));
}

bool NativeEngine::holds_written(const Task& task, WorkerId worker) const
{
    return devices_ ? devices_->holds_written(task, node(worker)) : memory_.holds_written(task, node(worker));
}

Seconds NativeEngine::free_at(WorkerId worker) const
{
    if (is_device(worker)) return now() + devices_->claimed(device_of(worker));
    const std::int64_t since = workers_[worker]->runs_since_ns.load(std::memory_order_relaxed);
    const std::int64_t expected = workers_[worker]->expected_ns.load(std::memory_order_relaxed);
    const std::int64_t now = now_ns();
    if (since == 0) return now * 1e-9;
    if (expected == Worker::never) return std::numeric_limits<Seconds>::infinity();
    const std::int64_t late = std::max<std::int64_t>(0, now - (since + expected));
    return (since + expected + 2 * late) * 1e-9;
}

} // namespace trencadis
