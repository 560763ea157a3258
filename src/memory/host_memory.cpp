#include "memory/host_memory.hpp"

#include <memory>
#include <utility>

namespace trencadis {

namespace {

std::vector<Space> nodes_of(const Machine* machine)
{
    if (!machine || machine->nodes.empty()) return {{"memory", 0, 0}};
    std::vector<Space> spaces;
    for (const MemoryNode& node : machine->nodes) spaces.push_back({node.name, 0, 0});
    return spaces;
}

MemoryEnvironment environment_of(const Machine* machine, bool knows_transfers)
{
    MemoryEnvironment environment;
    environment.cost = [](SpaceId, SpaceId, Bytes) { return Seconds(0); };
    if (knows_transfers)
        environment.cost = [routes = std::make_shared<const Routes>(*machine)](SpaceId from, SpaceId to, Bytes bytes) {
            return routes->between(from, to).time(bytes);
        };
    return environment;
}

} // namespace

HostMemory::HostMemory(const Machine* machine, NodeOf node_of)
    : knows_transfers_(machine && machine->nodes.size() > 1 && !machine->links.empty()), node_of_(std::move(node_of)),
      replicas_(nodes_of(machine), environment_of(machine, knows_transfers_))
{
}

void HostMemory::locate(Task& task) const
{
    for (int i = 0; i < task.access_count; ++i) {
        Datum& datum = task.data[i];
        const int node = datum.home == any_node && node_of_ ? node_of_(datum.address) : any_node;
        if (node >= 0 && node < memories()) datum.home = static_cast<std::int16_t>(node);
    }
}

/// The data that lie somewhere; in one memory, all.
std::vector<TaskDatum> HostMemory::located(const Task& task) const
{
    std::vector<TaskDatum> data;
    data.reserve(std::size_t(task.access_count));
    for_each_datum(task, [&](const TaskDatum& datum) {
        if (datum.home != any_node || memories() == 1) data.push_back(datum);
    });
    return data;
}

Seconds HostMemory::transfer_time(const Task& task, int node) const
{
    return knows_transfers_ ? replicas_.transfer_time(located(task), node) : 0;
}

Bytes HostMemory::valid_bytes(const Task& task, int node) const { return replicas_.valid_bytes(located(task), node); }

bool HostMemory::holds_written(const Task& task, int node) const { return replicas_.holds_written(located(task), node); }

} // namespace trencadis
