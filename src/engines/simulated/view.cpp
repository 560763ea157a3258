// What policies are told.
#include "engines/simulated/engine.hpp"

#include <algorithm>
#include <limits>

namespace trencadis::simulated {

bool VirtualEngine::able(const Task& task, WorkerId id) const
{
    const Worker& worker = *workers_[id];
    if (!kernels_.able(*task.codelet, worker.type)) return false;
    if (!replicas_) return true;
    if (worker.device < 0) return !options_.device_only || !a_device_can(task);
    return on_devices(task) && replicas_->fits(data_of(task, asked_), worker.space);
}

/// Tasks inside a task use what that one has brought to the host.
bool VirtualEngine::on_devices(const Task& task) const { return data_depth_ < 0 || task.depth <= data_depth_; }

bool VirtualEngine::a_device_can(const Task& task) const
{
    return std::any_of(devices_.begin(), devices_.end(), [&](WorkerId device) { return able(task, device); });
}

Seconds VirtualEngine::run_time(const Task& task, WorkerId id) const
{
    const Worker& worker = *workers_[id];
    if (!able(task, id)) return std::numeric_limits<Seconds>::infinity();
    // As the policy knows the worker: a thread that was moved is only noticed by its pace.
    const int type = worker.device < 0 ? worker.kind : worker.type;
    const double speed = host_speed_[worker.host];
    const Seconds alone =
        task.codelet->submits ? kernels_.guess(task.flops, type) / speed : kernels_.time(*task.codelet, task.flops, type, speed);
    return alone * worker.pace;
}

Seconds VirtualEngine::free_at(WorkerId id) const
{
    const Worker& worker = *workers_[id];
    Seconds free = worker.runs ? std::max(now(), worker.runs->end(worker.member)) : now();
    if (!worker.runs && worker.inside_body) return std::numeric_limits<Seconds>::infinity();
    for (const Claims::Claim& claim : worker.claims)
        if (!worker.runs || &claim != &worker.claims.front()) free += claim.expected;
    return free;
}

Index VirtualEngine::chunks_of(const Task& task, WorkerId id) const
{
    return std::max<Index>(1, units_[std::size_t(id)].chunks(*task.codelet, task.args));
}

Index VirtualEngine::chunks_left(WorkerId id) const
{
    Operation* operation = workers_[id]->offer;
    return operation ? operation->left(now()) : 0;
}

double VirtualEngine::shared_priority(WorkerId id) const
{
    const Operation* operation = workers_[id]->offer;
    return operation ? operation->task.priority.load(std::memory_order_relaxed) : 0;
}

int VirtualEngine::shared_node(WorkerId id) const
{
    const Operation* operation = workers_[id]->offer;
    return operation && binds(operation->task.node) ? operation->task.node : any_node;
}

Seconds VirtualEngine::chunk_time(WorkerId id, WorkerId by) const
{
    const Operation* operation = workers_[id]->offer;
    return operation ? run_time(operation->task, by) / static_cast<double>(operation->chunks) : 0;
}

Seconds VirtualEngine::transfer_time(const Task& task, WorkerId id) const
{
    return has_memory(task) ? replicas_->transfer_time(data_of(task, asked_), workers_[id]->space) : 0;
}

Bytes VirtualEngine::valid_bytes(const Task& task, WorkerId id) const
{
    const std::span<const TaskDatum> data = data_of(task, asked_);
    if (has_memory(task)) return replicas_->valid_bytes(data, workers_[id]->space);
    Bytes all = 0;
    for (const TaskDatum& datum : data) all += datum.bytes;
    return all;
}

bool VirtualEngine::holds_written(const Task& task, WorkerId id) const
{
    return !has_memory(task) || replicas_->holds_written(data_of(task, asked_), workers_[id]->space);
}

Seconds VirtualEngine::estimate(const Codelet& codelet, Flops flops) const
{
    if (&codelet == &message_codelet) return 0; // no worker's; how long the network takes is not known ahead
    Seconds best = std::numeric_limits<Seconds>::infinity();
    for (const Worker* worker : different_) {
        const double speed = host_speed_[worker->host];
        best = std::min(best, codelet.submits ? kernels_.guess(flops, worker->type) / speed
                                              : kernels_.time(codelet, flops, worker->type, speed));
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
    for (const auto& worker : workers_)
        times.push_back({static_cast<std::int64_t>(worker->busy * 1e9), worker->tasks, worker->shares});
    return times;
}

/// By host. The simulator knows busy and idle alone; what an idle one drew depends on whether it looked for work or slept.
std::vector<Joules> VirtualEngine::unit_joules() const
{
    std::vector<Joules> joules = joules_;
    if (joules.empty()) return joules;
    std::vector<bool> used(joules.size(), false);
    for (const auto& worker : workers_) {
        const auto host = static_cast<std::size_t>(first_host(*worker));
        const PowerState& power = power_[host];
        used[host] = true;
        joules[host] += (power.polling_w() - power.idle_w) * worker->polling + (asleep_w_[host] - power.idle_w) * worker->asleep;
    }
    for (std::size_t host = 0; host < joules.size(); ++host)
        if (!used[host]) joules[host] += (asleep_w_[host] - power_[host].idle_w) * makespan_;
    return joules;
}

/// Sums of what units drew, with what stands around them.
void VirtualEngine::add_energy(SimulationReport& report, const std::vector<Joules>& joules) const
{
    for (std::size_t host = 0; host < machine_.cores.size(); ++host) report.cores_j += joules[host];
    report.package_j = report.cores_j;
    for (const MemoryNode& node : machine_.nodes) {
        report.package_j += node.package_w * makespan_;
        report.memory_j += node.memory_w * makespan_;
    }
    report.energy_j = machine_.base_w * makespan_ + report.package_j + report.memory_j;
    for (std::size_t host = machine_.cores.size(); host < joules.size(); ++host) report.energy_j += joules[host];
}

void VirtualEngine::add_traffic(SimulationReport& report, const MemoryStatistics& memory) const
{
    const int spaces = replicas_->spaces();
    for (SpaceId at = 0; at < spaces; ++at)
        for (SpaceId by = 0; by < spaces; ++by) {
            const std::size_t pair = std::size_t(at) * std::size_t(spaces) + std::size_t(by);
            const InPlace& used = memory.in_place[pair];
            const Bytes copied = memory.between[pair].bytes;
            if (used.read + used.written + copied > 0)
                report.traffic.push_back({replicas_->space(at).name, replicas_->space(by).name, used.read, used.written, copied});
        }
}

void VirtualEngine::add_devices(SimulationReport& report) const
{
    const MemoryStatistics memory = replicas_->statistics();
    const std::size_t spaces = memory.spaces.size(), nodes = machine_.nodes.size();
    for (std::size_t space = nodes; space < spaces; ++space) {
        const SpaceStatistics& its = memory.spaces[space];
        SimulationReport::OfDevice device{.name = machine_.devices[space - nodes].name,
                                          .hits = its.hits + its.joined,
                                          .misses = its.misses,
                                          .evictions = its.evictions,
                                          .peak = its.peak_bytes};
        for (std::size_t other = 0; other < spaces; ++other) {
            device.to += memory.between[other * spaces + space].bytes;
            device.from += memory.between[space * spaces + other].bytes;
        }
        report.devices.push_back(std::move(device));
    }
    for (const TaskDatum& datum : replicas_->away())
        for (std::size_t space = nodes; space < spaces; ++space)
            if (replicas_->holds(datum.data, SpaceId(space))) {
                report.devices[space - nodes].left += datum.bytes;
                break;
            }
}

SimulationReport VirtualEngine::simulation_report() const
{
    SimulationReport report;
    report.makespan_s = makespan_;
    const std::vector<Joules> joules = unit_joules();
    report.has_energy = !joules.empty();
    if (report.has_energy) add_energy(report, joules);
    for (const auto& worker : workers_) {
        report.workers.push_back({worker->name, worker->kind_name, worker->busy, std::max(0.0, makespan_ - worker->busy),
                                  worker->tasks, worker->shares, worker->polling,
                                  report.has_energy ? joules[static_cast<std::size_t>(first_host(*worker))] : 0});
    }
    add_kernels(report);
    report.tasks = tasks_;
    report.untimed = untimed_;
    if (replicas_) {
        add_devices(report);
        const MemoryStatistics memory = replicas_->statistics();
        report.bytes_moved = memory.fetched.bytes + memory.written_back.bytes;
        report.transfers = memory.fetched.count + memory.written_back.count;
        report.local_bytes = memory.local.bytes;
        report.remote_bytes = memory.remote.bytes;
        add_traffic(report, memory);
    }
    if (books_) add_hosts(report);
    return report;
}

} // namespace trencadis::simulated
