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

void VirtualEngine::act(Worker& worker, const Found& found)
{
    if (found.operation) {
        occupy(worker, *found.operation, EventKind::share);
        leave(worker, *found.operation);
    } else if (found.task) {
        if (found.task->codelet->counted) pay(worker, options_.pop_s);
        execute(worker, *found.task, found.offer);
    }
}

void VirtualEngine::execute(Worker& worker, Task& task, bool offer)
{
    if (!task.flow->may_run(task)) return conclude(worker, task, nullptr, 0);
    if (task.codelet->submits) return run_body(worker, task);
    try {
        if (!able(task, worker.id))
            throw Error(ErrorCode::environment, std::string("scheduler '") + parts_.scheduler.text + "' gave task '" +
                                                    task.label + "' to " + worker.name + ", which cannot run it");
        run_kernel(worker, task, offer);
    } catch (...) {
        if (!worker.claims.empty() && worker.claims.front().task == &task) {
            end_claim(worker);
            release_data(worker, task);
        }
        conclude(worker, task, std::current_exception(), 0);
    }
}

void VirtualEngine::run_body(Worker& worker, Task& task)
{
    std::exception_ptr failure;
    const Seconds begin = now();
    bool brought = false;
    ++worker.inside_body;
    try {
        if (has_memory(task)) fetch(worker, task);
        brought = true;
        SharedWork work;
        Team team(work);
        TaskFlowContext context(task, team, worker.id);
        task.codelet->core(task.args, context);
        context.finish_children();
    } catch (...) {
        failure = std::current_exception();
    }
    --worker.inside_body;
    if (brought) release_data(worker, task);
    if (task.codelet->counted) ++worker.tasks;
    conclude(worker, task, std::move(failure), now() - begin);
}

void VirtualEngine::run_kernel(Worker& worker, Task& task, bool offer)
{
    const Seconds begin = now();
    if (has_memory(task)) fetch(worker, task);
    if (kernels_.time(*task.codelet, task.flops, worker.type) > 0) {
        const bool alone = worker.device >= 0 && has_memory(task) && options_.one_stream;
        while (alone && transfers_->engaged(worker.space)) wait_for_data(worker);
        if (alone) transfers_->engage(worker.space, true);
        Operation& operation = open(worker, task, offer, begin);
        occupy(worker, operation, EventKind::task);
        if (alone) {
            transfers_->engage(worker.space, false);
            wake_movers();
        }
        wait_for_fetches(worker);
        leave(worker, operation);
        return;
    }
    if (task.codelet->counted) {
        ++untimed_;
        ++worker.tasks;
    }
    if (worker.device >= 0) end_claim(worker);
    release_data(worker, task);
    conclude(worker, task, nullptr, 0);
}

double VirtualEngine::noise(const Task& task) const
{
    if (options_.jitter <= 0) return 1;
    const std::uint64_t place = task.order.load(std::memory_order_relaxed) * 64 + task.depth;
    return 1 + options_.jitter * (2 * random_of(options_.seed, place) - 1);
}

/// Of one chunk when the worker is alone with the operation.
Seconds VirtualEngine::own_chunk_time(const Operation& operation, const Worker& worker) const
{
    const Task& task = operation.task;
    return kernels_.time(*task.codelet, task.flops, worker.type, host_speed_[worker.host]) * operation.noise /
           static_cast<double>(operation.chunks);
}

bool VirtualEngine::somebody_idle(const Task& task) const
{
    const auto allowed = [&](WorkerId idle) { return binding_.allows(idle, task.node); };
    if (binds(task.node) && books_) return !crews_[std::size_t(task.node)].seekers.empty();
    return std::ranges::any_of(crews_, [&](const Crew& crew) { return std::ranges::any_of(crew.seekers, allowed); });
}

/// Begins an operation. Others may join it when somebody is idle, or when the policy wants it: as on real cores, where cutting
/// it up for nobody would cost speed.
Operation& VirtualEngine::open(Worker& worker, Task& task, bool offer, Seconds since)
{
    const Index chunks = chunks_of(task, worker.id);
    const std::span<const WorkerId> followers = scheduler_->followers(worker.id);
    const bool wanted = offer || somebody_idle(task) || !followers.empty();
    const bool offered = worker.device < 0 && chunks > 1 && wanted;
    auto* operation = new Operation(task, worker, offered ? chunks : 1, since);
    operation->noise = noise(task);
    operation->members.push_back(&worker);
    operation->inside = 1;
    worker.runs = operation;
    worker.member = operation->plan.join(now(), own_chunk_time(*operation, worker));
    if (!followers.empty()) call_team(*operation, followers);
    if (!offered) return *operation;
    worker.offer = operation;
    ++offers_;
    ++worker.crew->offers;
    change(*worker.crew);
    serve();
    return *operation;
}

/// A fixed team for which the machine knows a time takes that time. A kernel that cannot be shared is the leader's alone, but
/// takes the team's time too: that time was measured with the others waiting.
void VirtualEngine::call_team(Operation& operation, std::span<const WorkerId> followers)
{
    std::vector<int> kinds{operation.owner.type};
    for (const WorkerId follower : followers) kinds.push_back(workers_[follower]->type);
    std::sort(kinds.begin(), kinds.end());
    const Task& task = operation.task;
    const Seconds together = kernels_.team_time(*task.codelet, task.flops, kinds, host_speed_[operation.owner.host]);
    if (together <= 0) return;
    operation.fixed = true;
    operation.fixed_end = now() + together * operation.noise;
    if (operation.chunks < 2) return;
    for (const WorkerId follower : followers) {
        operation.expected.push_back(workers_[follower].get());
        workers_[follower]->called = &operation;
    }
}

/// False: nothing is left to do there for this worker.
bool VirtualEngine::join(Worker& worker, Operation& operation)
{
    const Seconds ready = worker.idle && sleeps(worker.idle_since) ? now() + options_.wake_s : now();
    if (operation.fixed) {
        if (std::erase(operation.expected, &worker) == 0) return false;
        worker.called = nullptr;
    } else if (worker.device >= 0 || !kernels_.able(*operation.task.codelet, worker.type) || !operation.has_chunk_at(ready))
        return false;
    worker.runs = &operation;
    worker.member = operation.plan.join(now(), ready, own_chunk_time(operation, worker));
    operation.members.push_back(&worker);
    ++operation.inside;
    ++worker.shares;
    adjust(operation);
    return true;
}

/// The members, or their speed, changed: works out anew when each will be done, and tells those who compute.
void VirtualEngine::adjust(Operation& operation)
{
    if (operation.fixed) return;
    std::vector<int> kinds;
    for (const Worker* member : operation.members)
        if (member) kinds.push_back(member->type);
    const Task& task = operation.task;
    const double loss = kinds.size() > 1 ? kernels_.sharing_loss(*task.codelet, task.flops, kinds) : 1;
    const bool fewer = operation.inside < std::exchange(operation.counted, operation.inside);
    if (books_ && fewer && loss == operation.loss) return; // what was foreseen stays true
    operation.loss = loss;
    for (Worker* member : operation.members) {
        if (!member) continue;
        const Seconds chunk = own_chunk_time(operation, *member) * loss;
        if (std::isfinite(chunk)) operation.plan.set_chunk_time(member->member, now(), chunk);
        interrupts_.push_back(member->holder->actor);
    }
}

/// Until the worker's part of the operation is done.
void VirtualEngine::occupy(Worker& worker, Operation& operation, EventKind kind)
{
    const Seconds begin = kind == EventKind::task ? operation.begin : now();
    while (true) {
        send_wakes();
        const Seconds rest = operation.end(worker.member) - now();
        if (rest <= tolerance) break;
        time_->compute(worker.host, rest * host_speed_[worker.host]);
    }
    account(worker, operation.task, kind, begin);
}

void VirtualEngine::account(Worker& worker, const Task& task, EventKind kind, Seconds begin)
{
    const Seconds end = now();
    worker.busy += end - begin;
    if (kind == EventKind::task) {
        ++worker.tasks;
        KernelCount& kernel = per_kernel_[{task.codelet->name, worker.type}];
        ++kernel.calls;
        kernel.total_s += end - begin;
        kernel.flops += task.flops;
    }
    record(worker, task.label, task.order.load(std::memory_order_relaxed), begin, kind == EventKind::task ? task.flops : 0, kind);
}

void VirtualEngine::record(Worker& worker, const char* name, std::uint64_t order, Seconds begin, Flops flops, EventKind kind)
{
    const auto ns = [](Seconds time) { return static_cast<std::int64_t>(std::llround(time * 1e9)); };
    if (!recorder_.enabled() || (kind == EventKind::idle && now() <= begin)) return;
    recorder_.record(worker.id, {name, order, ns(begin), ns(now()), flops, kind});
}

/// The last one out finishes the task.
void VirtualEngine::leave(Worker& worker, Operation& operation)
{
    operation.members[worker.member] = nullptr;
    worker.runs = nullptr;
    if (worker.offer == &operation) {
        worker.offer = nullptr;
        --offers_;
        --worker.crew->offers;
    }
    if (--operation.inside > 0) return adjust(operation);
    for (Worker* follower : operation.expected) follower->called = nullptr;
    const std::unique_ptr<Operation> done(&operation);
    Task& task = operation.task;
    const Seconds took = now() - operation.begin;
    if (operation.members.size() == 1 && (options_.remap_s > 0 || options_.jitter > 0)) {
        const Seconds expected = run_time(task, operation.owner.id) / operation.owner.pace;
        operation.owner.pace += pace_weight * (took / expected - operation.owner.pace);
    }
    if (operation.owner.device >= 0) end_claim(operation.owner);
    release_data(operation.owner, task);
    conclude(worker, task, nullptr, took);
}

void VirtualEngine::conclude(Worker& worker, Task& task, std::exception_ptr failure, Seconds took)
{
    if (task.codelet->counted) ++tasks_;
    if (books_) release_copies(task);
    if (poll_ && ++since_poll_ % 1024 == 0 && (*poll_)()) cancel_call(*task.flow);
    WorkerProtocol::conclude(worker, task, std::move(failure), took);
}

} // namespace trencadis::simulated
