// Running tasks: kernels take their time, alone or shared; bodies that submit are run.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

namespace trencadis::simulated {
namespace {

constexpr Seconds tolerance = 1e-9; ///< the simulator rounds times at this
constexpr double pace_weight = 0.25;

/// A number in [0, 1) from a seed and a place (Steele, Lea, Flood 2014, SplitMix64).
double random_of(std::uint64_t seed, std::uint64_t place)
{
    std::uint64_t z = seed * 0x9E3779B97F4A7C15u + place * 0xD1342543DE82EF95u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

} // namespace

void VirtualEngine::act(Unit& unit, const Found& found)
{
    if (found.operation) {
        occupy(unit, *found.operation, EventKind::share);
        leave(unit, *found.operation);
    } else if (found.task) {
        if (found.task->codelet->counted) pay(unit, options_.pop_s);
        execute(unit, *found.task, found.offer);
    }
}

void VirtualEngine::execute(Unit& unit, Task& task, bool offer)
{
    if (!task.flow->may_run(task)) return conclude(unit, task, nullptr, 0);
    if (task.codelet->submits) return run_body(unit, task);
    try {
        if (!able(task, unit.id))
            throw Error(ErrorCode::environment, std::string("scheduler '") + parts_.scheduler.text + "' gave task '" +
                                                    task.label + "' to " + unit.name + ", which cannot run it");
        run_kernel(unit, task, offer);
    } catch (...) {
        if (!unit.claims.empty() && unit.claims.front().task == &task) {
            unit.claims.pop();
            release_data(unit, task);
        }
        conclude(unit, task, std::current_exception(), 0);
    }
}

void VirtualEngine::run_body(Unit& unit, Task& task)
{
    std::exception_ptr failure;
    const Seconds begin = now();
    bool brought = false;
    ++unit.inside_body;
    try {
        if (has_memory(task)) fetch(unit, task);
        brought = true;
        SharedWork work;
        Team team(work);
        TaskFlowContext context(task, team, unit.id);
        task.codelet->core(task.args, context);
        context.finish_children();
    } catch (...) {
        failure = std::current_exception();
    }
    --unit.inside_body;
    if (brought) release_data(unit, task);
    if (task.codelet->counted) ++unit.tasks;
    conclude(unit, task, std::move(failure), now() - begin);
}

void VirtualEngine::run_kernel(Unit& unit, Task& task, bool offer)
{
    const Seconds begin = now();
    if (has_memory(task)) fetch(unit, task);
    if (kernels_.time(*task.codelet, task.flops, unit.type) > 0) {
        const bool alone = unit.device >= 0 && has_memory(task) && options_.one_stream;
        while (alone && transfers_->engaged(unit.space)) wait_for_data(unit);
        if (alone) transfers_->engage(unit.space, true);
        Operation& operation = open(unit, task, offer, begin);
        occupy(unit, operation, EventKind::task);
        if (alone) {
            transfers_->engage(unit.space, false);
            wake_movers();
        }
        leave(unit, operation);
        return;
    }
    if (task.codelet->counted) {
        ++untimed_;
        ++unit.tasks;
    }
    if (unit.device >= 0) unit.claims.pop();
    release_data(unit, task);
    conclude(unit, task, nullptr, 0);
}

double VirtualEngine::noise(const Task& task) const
{
    if (options_.jitter <= 0) return 1;
    const std::uint64_t place = task.order.load(std::memory_order_relaxed) * 64 + task.depth;
    return 1 + options_.jitter * (2 * random_of(options_.seed, place) - 1);
}

/// Of one chunk when the worker is alone with the operation.
Seconds VirtualEngine::own_chunk_time(const Operation& operation, const Unit& unit) const
{
    const Task& task = operation.task;
    return kernels_.time(*task.codelet, task.flops, unit.type) / host_speed_[unit.host] * operation.noise /
           static_cast<double>(operation.chunks);
}

bool VirtualEngine::somebody_idle(const Task& task) const
{
    return std::any_of(seekers_.begin(), seekers_.end(), [&](WorkerId idle) { return binding_.allows(idle, task.node); });
}

/// Begins an operation. Others may join it when somebody is idle, or when the policy wants it: as on real cores, where cutting
/// it up for nobody would cost speed.
Operation& VirtualEngine::open(Unit& unit, Task& task, bool offer, Seconds since)
{
    const Index chunks = std::max<Index>(1, task.chunks);
    const std::span<const WorkerId> followers = scheduler_->followers(unit.id);
    const bool wanted = offer || somebody_idle(task) || !followers.empty();
    const bool offered = unit.device < 0 && chunks > 1 && wanted;
    auto* operation = new Operation(task, unit, offered ? chunks : 1, since);
    operation->noise = noise(task);
    operation->members.push_back(&unit);
    operation->inside = 1;
    unit.runs = operation;
    unit.member = operation->plan.join(now(), own_chunk_time(*operation, unit));
    if (!followers.empty()) call_team(*operation, followers);
    if (!offered) return *operation;
    unit.offer = operation;
    ++offers_;
    serve();
    return *operation;
}

/// A fixed team for which the machine knows a time takes that time. A kernel that cannot be shared is the leader's alone, but takes the
/// team's time too: that time was measured with the others waiting.
void VirtualEngine::call_team(Operation& operation, std::span<const WorkerId> followers)
{
    std::vector<int> kinds{operation.owner.type};
    for (const WorkerId follower : followers) kinds.push_back(units_[follower]->type);
    std::sort(kinds.begin(), kinds.end());
    const Task& task = operation.task;
    const Seconds together = kernels_.team_time(*task.codelet, task.flops, kinds);
    if (together <= 0) return;
    operation.fixed = true;
    operation.fixed_end = now() + together / host_speed_[operation.owner.host] * operation.noise;
    if (operation.chunks < 2) return;
    for (const WorkerId follower : followers) {
        operation.expected.push_back(units_[follower].get());
        units_[follower]->called = &operation;
    }
}

/// False: nothing is left to do there for this worker.
bool VirtualEngine::join(Unit& unit, Operation& operation)
{
    if (operation.fixed) {
        if (std::erase(operation.expected, &unit) == 0) return false;
        unit.called = nullptr;
    } else if (unit.device >= 0 || !kernels_.able(*operation.task.codelet, unit.type) || operation.left(now()) == 0) return false;
    unit.runs = &operation;
    unit.member = operation.plan.join(now(), own_chunk_time(operation, unit));
    operation.members.push_back(&unit);
    ++operation.inside;
    ++unit.shares;
    adjust(operation);
    return true;
}

/// The members, or their speed, changed: works out anew when each will be done, and tells those who compute.
void VirtualEngine::adjust(Operation& operation)
{
    if (operation.fixed) return;
    std::vector<int> kinds;
    for (const Unit* member : operation.members)
        if (member) kinds.push_back(member->type);
    const Task& task = operation.task;
    const double loss = kinds.size() > 1 ? kernels_.sharing_loss(*task.codelet, task.flops, kinds) : 1;
    for (Unit* member : operation.members) {
        if (!member) continue;
        const Seconds chunk = own_chunk_time(operation, *member) * loss;
        if (std::isfinite(chunk)) operation.plan.set_chunk_time(member->member, now(), chunk);
        interrupts_.push_back(member->holder->actor);
    }
}

/// Until the worker's part of the operation is done.
void VirtualEngine::occupy(Unit& unit, Operation& operation, EventKind kind)
{
    const Seconds begin = kind == EventKind::task ? operation.begin : now();
    while (true) {
        send_wakes();
        const Seconds rest = operation.end(unit.member) - now();
        if (rest <= tolerance) break;
        time_->compute(unit.host, rest * host_speed_[unit.host]);
    }
    account(unit, operation.task, kind, begin);
}

void VirtualEngine::account(Unit& unit, const Task& task, EventKind kind, Seconds begin)
{
    const Seconds end = now();
    unit.busy += end - begin;
    if (kind == EventKind::task) {
        ++unit.tasks;
        KernelCount& kernel = per_kernel_[{task.codelet->name, unit.type}];
        ++kernel.calls;
        kernel.total_s += end - begin;
        kernel.flops += task.flops;
    }
    record(unit, task.label, task.order.load(std::memory_order_relaxed), begin, kind == EventKind::task ? task.flops : 0, kind);
}

void VirtualEngine::record(Unit& unit, const char* name, std::uint64_t order, Seconds begin, Flops flops, EventKind kind)
{
    const auto ns = [](Seconds time) { return static_cast<std::int64_t>(std::llround(time * 1e9)); };
    if (!recorder_.enabled() || (kind == EventKind::idle && now() <= begin)) return;
    recorder_.record(unit.id, {name, order, ns(begin), ns(now()), flops, kind});
}

/// The last one out finishes the task.
void VirtualEngine::leave(Unit& unit, Operation& operation)
{
    operation.members[unit.member] = nullptr;
    unit.runs = nullptr;
    if (unit.offer == &operation) {
        unit.offer = nullptr;
        --offers_;
    }
    if (--operation.inside > 0) return adjust(operation);
    for (Unit* follower : operation.expected) follower->called = nullptr;
    const std::unique_ptr<Operation> done(&operation);
    Task& task = operation.task;
    const Seconds took = now() - operation.begin;
    if (operation.members.size() == 1 && (options_.remap_s > 0 || options_.jitter > 0)) {
        const Seconds expected = run_time(task, operation.owner.id) / operation.owner.pace;
        operation.owner.pace += pace_weight * (took / expected - operation.owner.pace);
    }
    if (operation.owner.device >= 0) operation.owner.claims.pop();
    release_data(operation.owner, task);
    conclude(unit, task, nullptr, took);
}

void VirtualEngine::conclude(Unit& unit, Task& task, std::exception_ptr failure, Seconds took)
{
    if (task.codelet->counted) ++tasks_;
    if (poll_ && ++since_poll_ % 1024 == 0 && (*poll_)()) cancel_call(*task.flow);
    WorkerProtocol::conclude(unit, task, std::move(failure), took);
}

} // namespace trencadis::simulated
