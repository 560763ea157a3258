// What policies are told.
#include "engines/simulated/engine.hpp"

#include <limits>

namespace trencadis::simulated {

bool VirtualEngine::able(const Task& task, WorkerId worker) const
{
    const Unit& unit = *units_[worker];
    if (!kernels_.able(*task.codelet, unit.type)) return false;
    if (unit.device < 0 || !replicas_) return true;
    // Tasks inside a task use what that one has brought to the host.
    if (data_depth_ >= 0 && task.depth > data_depth_) return false;
    return replicas_->fits(data_of(task, asked_), unit.space);
}

Seconds VirtualEngine::run_time(const Task& task, WorkerId worker) const
{
    const Unit& unit = *units_[worker];
    if (!able(task, worker)) return std::numeric_limits<Seconds>::infinity();
    // As the policy knows the worker: a thread that was moved is only noticed by its pace.
    const int type = unit.device < 0 ? unit.kind : unit.type;
    const Seconds alone =
        task.codelet->submits ? kernels_.guess(task.flops, type) : kernels_.time(*task.codelet, task.flops, type);
    return alone / host_speed_[unit.host] * unit.pace;
}

Seconds VirtualEngine::free_at(WorkerId worker) const
{
    const Unit& unit = *units_[worker];
    Seconds free = unit.runs ? std::max(now(), unit.runs->end(unit.member)) : now();
    if (!unit.runs && unit.inside_body) return std::numeric_limits<Seconds>::infinity();
    for (const Claims::Claim& claim : unit.claims)
        if (!unit.runs || &claim != &unit.claims.front()) free += claim.expected;
    return free;
}

Index VirtualEngine::chunks_left(WorkerId worker) const
{
    Operation* operation = units_[worker]->offer;
    return operation ? operation->left(now()) : 0;
}

double VirtualEngine::shared_priority(WorkerId worker) const
{
    const Operation* operation = units_[worker]->offer;
    return operation ? operation->task.priority.load(std::memory_order_relaxed) : 0;
}

int VirtualEngine::shared_node(WorkerId worker) const
{
    const Operation* operation = units_[worker]->offer;
    return operation && binds(operation->task.node) ? operation->task.node : any_node;
}

Seconds VirtualEngine::chunk_time(WorkerId worker, WorkerId by) const
{
    const Operation* operation = units_[worker]->offer;
    return operation ? run_time(operation->task, by) / static_cast<double>(operation->chunks) : 0;
}

Seconds VirtualEngine::transfer_time(const Task& task, WorkerId worker) const
{
    return has_memory(task) ? replicas_->transfer_time(data_of(task, asked_), units_[worker]->space) : 0;
}

Bytes VirtualEngine::valid_bytes(const Task& task, WorkerId worker) const
{
    const std::span<const TaskDatum> data = data_of(task, asked_);
    if (has_memory(task)) return replicas_->valid_bytes(data, units_[worker]->space);
    Bytes all = 0;
    for (const TaskDatum& datum : data) all += datum.bytes;
    return all;
}

bool VirtualEngine::holds_written(const Task& task, WorkerId worker) const
{
    return !has_memory(task) || replicas_->holds_written(data_of(task, asked_), units_[worker]->space);
}

Seconds VirtualEngine::estimate(const Codelet& codelet, Flops flops) const
{
    Seconds best = std::numeric_limits<Seconds>::infinity();
    for (const auto& unit : units_) {
        const Seconds alone = codelet.submits ? kernels_.guess(flops, unit->type) : kernels_.time(codelet, flops, unit->type);
        best = std::min(best, alone / host_speed_[unit->host]);
    }
    return best;
}

/// By name and kind; codelets of one name and devices of one kind together.
void VirtualEngine::add_kernels(SimulationReport& report) const
{
    const int kinds = static_cast<int>(machine_.kinds.size());
    std::map<std::pair<std::string, std::string>, SimulationReport::OfKernel> sorted;
    for (const auto& [key, count] : per_kernel_) {
        const auto [name, type] = key;
        const std::string kind = type < kinds ? machine_.kinds[type].name : machine_.devices[type - kinds].kind;
        SimulationReport::OfKernel& kernel = sorted[{std::string(name), kind}];
        kernel.kernel = name;
        kernel.kind = kind;
        kernel.calls += count.calls;
        kernel.total_s += count.total_s;
        kernel.flops += count.flops;
    }
    for (auto& [names, kernel] : sorted) report.kernels.push_back(std::move(kernel));
}

std::vector<WorkerTime> VirtualEngine::times() const
{
    std::vector<WorkerTime> times;
    for (const auto& unit : units_) times.push_back({static_cast<std::int64_t>(unit->busy * 1e9), unit->tasks, unit->shares});
    return times;
}

SimulationReport VirtualEngine::simulation_report() const
{
    SimulationReport report;
    report.makespan_s = makespan_;
    report.has_energy = !joules_.empty();
    report.energy_j = report.has_energy ? machine_.base_w * makespan_ : 0;
    for (const Joules joules : joules_) report.energy_j += joules;
    for (const auto& unit : units_) {
        const int host = unit->device < 0 ? parts_.workers[unit->id].cpu : unit->host;
        report.workers.push_back({unit->name, unit->kind_name, unit->busy, std::max(0.0, makespan_ - unit->busy), unit->tasks,
                                  unit->shares, report.has_energy ? joules_[host] : 0});
    }
    add_kernels(report);
    report.tasks = tasks_;
    report.untimed = untimed_;
    if (replicas_) {
        const MemoryStatistics memory = replicas_->statistics();
        report.bytes_moved = memory.fetched.bytes + memory.written_back.bytes;
        report.transfers = memory.fetched.count + memory.written_back.count;
        report.local_bytes = memory.local.bytes;
        report.remote_bytes = memory.remote.bytes;
    }
    return report;
}

} // namespace trencadis::simulated
