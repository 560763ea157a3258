// The machine as SimGrid sees it, and the workers on it.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"
#include "memory/machine_spaces.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace trencadis::simulated {
namespace {

constexpr std::size_t most_cores = 32768; ///< that were tried: each is a thread of control with a stack
constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

const PowerState* find_state(const std::vector<PowerState>& power, const std::string& name)
{
    for (const PowerState& state : power)
        if (name.empty() || state.name == name) return &state;
    return nullptr;
}

/// The machine's links as one-way links, 2 l and 2 l + 1 the directions of link l, behind them the memories that are narrow: one
/// link each, for both directions, because reads and writes share it.
class Ways {
public:
    Ways(VirtualPlatform& platform, const Machine& machine, const Routes& routes)
        : platform_(platform), machine_(machine), routes_(routes), memory_(machine.nodes.size(), -1)
    {
        for (const Link& link : machine.links)
            for (const bool forth : {true, false}) platform.links.push_back({link.towards(forth), link.latency});
        for (std::size_t node = 0; node < machine.nodes.size(); ++node) {
            if (machine.nodes[node].bandwidth <= 0) continue;
            memory_[node] = static_cast<int>(platform.links.size());
            platform.links.push_back({machine.nodes[node].bandwidth, 0});
        }
    }
    /// Copies between all places that hold data use the memory at both ends.
    void add_copies()
    {
        const int places = place_of_device(machine_, static_cast<int>(machine_.devices.size()));
        for (int from = 0; from < places; ++from)
            for (int to = 0; to < places; ++to) add(from, from, from, to, to, to);
    }
    /// Cores that read or write another node's memory in place use that memory alone.
    void add_uses_in_place()
    {
        for (int memory = 0; memory < nodes(); ++memory)
            for (int node = 0; node < nodes(); ++node) {
                add(memory, memory, memory, node, place_of_cores(machine_, node), -1);
                add(node, place_of_cores(machine_, node), -1, memory, memory, memory);
            }
    }

private:
    int nodes() const { return static_cast<int>(machine_.nodes.size()); }
    /// The way from `from` to `to`, for the places `source` and `target` there; `read` and `written`: the memories used, -1 for
    /// none.
    void add(int from, int source, int read, int to, int target, int written)
    {
        const Routes::Route& route = routes_.between(from, to);
        if (from == to || !route.reachable) return;
        VirtualPlatform::Route way{source, target, {}};
        add_memory(way, read);
        int at = from;
        for (const int l : route.links) {
            const bool forth = find_place(machine_, machine_.links[l].from) == at;
            way.links.push_back(2 * l + !forth);
            at = find_place(machine_, forth ? machine_.links[l].to : machine_.links[l].from);
        }
        add_memory(way, written);
        platform_.routes.push_back(std::move(way));
    }
    void add_memory(VirtualPlatform::Route& way, int place) const
    {
        if (place >= 0 && place < nodes() && memory_[place] >= 0) way.links.push_back(memory_[place]);
    }

    VirtualPlatform& platform_;
    const Machine& machine_;
    const Routes& routes_;
    std::vector<int> memory_; ///< [node] link; -1: not narrow
};

/// Of the workers. A device's memory is its own, so it is of no node.
std::vector<int> nodes_of(const EngineParts& parts)
{
    std::vector<int> nodes;
    for (const WorkerPlace& place : parts.workers) nodes.push_back(parts.machine->cores[place.cpu].node);
    nodes.resize(nodes.size() + parts.devices.size(), any_node);
    return nodes;
}

} // namespace

VirtualEngine::VirtualEngine(EngineParts parts)
    : WorkerProtocol(nodes_of(parts)), parts_(std::move(parts)), machine_(*parts_.machine), options_(parts_.simulation),
      kernels_(machine_), recorder_(static_cast<int>(parts_.workers.size() + parts_.devices.size())), again_at_(never),
      mapping_(options_.seed)
{
    if (!machine_.network) routes_.emplace(machine_);
    const VirtualPlatform virtual_machine = platform();
    add_workers();
    make_crews();
    if (!machine_.network) make_memory();
    time_ = make_virtual_time();
    time_->build(virtual_machine);
    make_scheduler(*this, parts_.scheduler, machine_.network.has_value());
    require_policy_per_host();
    require_teams_of_cores();
}

/// A device shares no operation.
void VirtualEngine::require_teams_of_cores() const
{
    for (const auto& leader : workers_) {
        const std::span<const WorkerId> followers = scheduler_->followers(leader->id);
        const auto refuse_device = [&](const Worker& member) {
            if (followers.empty() || member.device < 0) return;
            throw Error(ErrorCode::bad_argument,
                        "scheduler '" + parts_.scheduler.text + "': " + member.name + " is in a team, and teams are of cores");
        };
        refuse_device(*leader);
        for (const WorkerId follower : followers) refuse_device(*workers_[follower]);
    }
}

/// Hosts are the machine's cores, then its devices; also those without a worker, because they draw power.
VirtualPlatform VirtualEngine::platform()
{
    if (machine_.cores.size() > most_cores)
        throw Error(ErrorCode::bad_argument, machine_.name + " has " + std::to_string(machine_.cores.size()) +
                                                 " cores, and simulations of up to " + std::to_string(most_cores) +
                                                 " are known to work");
    VirtualPlatform platform;
    bool known = false, chosen = options_.power_state.empty(), awake = options_.awake_state.empty();
    const auto add = [&](const std::vector<PowerState>& power) {
        const PowerState* state = find_state(power, options_.power_state);
        const PowerState* const asleep = options_.awake_state.empty() ? nullptr : find_state(power, options_.awake_state);
        chosen |= state != nullptr;
        awake |= asleep != nullptr;
        if (!state) state = find_state(power, {});
        known |= state && (state->idle_w > 0 || state->busy_w > 0);
        const PowerState plain = state ? *state : PowerState{};
        platform.hosts.push_back({plain.speed, plain.idle_w, plain.busy_w});
        host_speed_.push_back(plain.speed);
        power_.push_back(plain);
        asleep_w_.push_back(asleep ? asleep->polling_w() : plain.idle_w);
    };
    for (const Core& core : machine_.cores) add(machine_.kinds[core.kind].power);
    for (const Device& device : machine_.devices) add(device.power);
    if (!chosen || !awake)
        throw Error(ErrorCode::bad_argument, machine_.name + " has no power state '" +
                                                 (chosen ? options_.awake_state : options_.power_state) +
                                                 "' on any core or device");
    for (const MemoryNode& node : machine_.nodes) known |= node.package_w > 0 || node.memory_w > 0;
    platform.energy = has_energy_ = known || machine_.base_w > 0;
    platform.network = machine_.network;
    platform.places = static_cast<int>(machine_.nodes.size());
    if (platform.network) return platform;
    platform.places = place_of_cores(machine_, static_cast<int>(machine_.nodes.size()));
    Ways ways(platform, machine_, *routes_);
    ways.add_copies();
    ways.add_uses_in_place();
    return platform;
}

void VirtualEngine::add_workers()
{
    const auto add = [this](const std::string& name, const std::string& kind_name, int kind, int type, int host,
                            int space) -> Worker& {
        auto worker = std::make_unique<Worker>();
        worker->id = static_cast<WorkerId>(workers_.size());
        worker->name = name;
        worker->kind_name = kind_name;
        worker->kind = kind;
        worker->type = type;
        worker->host = host;
        worker->space = space;
        recorder_.describe(worker->id, -1, kind_name);
        const bool device = type >= static_cast<int>(machine_.kinds.size());
        units_.push_back({.kind = device ? UnitKind::device : UnitKind::core, .memory = device ? space : process_memory});
        workers_.push_back(std::move(worker));
        return *workers_.back();
    };
    for (const WorkerPlace& place : parts_.workers) {
        const Core& core = machine_.cores[place.cpu];
        const std::string& kind = machine_.kinds[core.kind].name;
        add(kind + " " + std::to_string(core.cpu), kind, core.kind, core.kind, place.cpu, core.node);
    }
    const int kinds = static_cast<int>(machine_.kinds.size()), cores = static_cast<int>(machine_.cores.size());
    for (const int d : parts_.devices) {
        const Device& device = machine_.devices[d];
        const auto first = std::find_if(machine_.devices.begin(), machine_.devices.end(),
                                        [&](const Device& other) { return other.kind == device.kind; });
        const int kind = kinds + static_cast<int>(first - machine_.devices.begin());
        add(device.name, device.kind, kind, kernels_.type_of_device(d), cores + d, static_cast<int>(machine_.nodes.size()) + d)
            .device = d;
        devices_.push_back(workers_.back()->id);
    }
    if (workers_.empty()) throw Error(ErrorCode::bad_argument, "a simulation needs at least one worker");
}

/// Where there is one memory, nothing moves and nobody needs to keep account of it.
void VirtualEngine::make_memory()
{
    std::vector<Space> spaces = spaces_of(machine_);
    if (spaces.size() < 2) return;
    const int nodes = static_cast<int>(machine_.nodes.size());
    if (options_.copy_operands)
        for (int node = 0; node < nodes; ++node) spaces[std::size_t(node)].domain = node;
    const bool interleave = options_.placement == "interleave";
    if (!interleave && options_.placement != "first-touch")
        throw Error(ErrorCode::bad_argument, "placement is '" + options_.placement + "', must be first-touch or interleave");
    MemoryEnvironment environment;
    environment.cost = [this, nodes](SpaceId from, SpaceId to, Bytes bytes) {
        // Hubs do not hand on what devices send each other over the processors (NVIDIA on GPUDirect peer-to-peer).
        const Routes::Route& route = routes_->between(from, to);
        return from >= nodes && to >= nodes && (!options_.peer || route.over_memory) ? never : route.time(bytes);
    };
    std::set<SpaceId> in_use;
    for (const WorkerPlace& place : parts_.workers) in_use.insert(machine_.cores[place.cpu].node);
    for (const int device : parts_.devices) in_use.insert(machine_.devices[device].node);
    environment.home = [interleave, spread = std::vector<SpaceId>(in_use.begin(), in_use.end())](const void* data, Bytes bytes,
                                                                                                 SpaceId) -> SpaceId {
        const auto size = static_cast<std::uintptr_t>(std::max(bytes, 1.0));
        return interleave ? spread[reinterpret_cast<std::uintptr_t>(data) / size % spread.size()] : 0;
    };
    environment.log = parts_.memory_log;
    replicas_ = std::make_unique<Replicas>(std::move(spaces), std::move(environment));
    transfers_.emplace(*replicas_, nodes, options_.one_stream);
    movers_.resize(std::size_t(transfers_->count()));
}

/// The system puts each thread on some core, whatever the cores' speed. What a policy was told of its workers stays.
void VirtualEngine::remap()
{
    std::vector<Worker*> threads;
    for (const auto& worker : workers_)
        if (worker->device < 0) threads.push_back(worker.get());
    for (std::size_t i = threads.size(); i > 1; --i) {
        Worker &a = *threads[i - 1], &b = *threads[mapping_() % i];
        std::swap(a.host, b.host);
        std::swap(a.type, b.type);
    }
    for (Worker* worker : threads)
        if (worker->runs) adjust(*worker->runs);
    for (Worker* worker : threads)
        if (worker->runs) interrupts_.push_back(worker->holder->actor);
}

} // namespace trencadis::simulated
