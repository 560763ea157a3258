#include "engines/native.hpp"

#include "observe/clock.hpp"
#include "scheduling/parts/node_policies.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

namespace trencadis {

namespace {

constexpr std::int64_t spin_ns = 30'000; ///< about what it costs to put a thread to sleep and wake it
constexpr std::int64_t poll_interval_ns = 50'000'000;

/// Where the calling thread is: the engine and worker it holds, and whom to ask while it waits.
struct Position {
    const NativeEngine* engine = nullptr;
    Worker* worker = nullptr;
    Holder* holder = nullptr;
    const std::function<bool()>* poll = nullptr;
};
// Read for every task that is ready when submitted; the default model would ask the dynamic linker each time. 32 bytes are within
// what the C library keeps free for libraries that are loaded late.
[[gnu::tls_model("initial-exec")]] thread_local constinit Position position;

std::vector<int> kinds_of(const std::vector<WorkerPlace>& workers)
{
    std::vector<int> kinds;
    for (const WorkerPlace& worker : workers) kinds.push_back(worker.kind);
    return kinds;
}

/// Lets others see what a worker runs, and how long that should take.
class Busy {
public:
    Busy(Worker& worker, const Task& task, Seconds expected)
        : worker_(worker), since_(worker.runs_since_ns), expected_(worker.expected_ns)
    {
        const bool known = expected > 0 && task.codelet->counted;
        worker.expected_ns.store(known ? static_cast<std::int64_t>(expected * 1e9) : Worker::never, std::memory_order_relaxed);
        worker.runs_since_ns.store(known ? now_ns() : 1, std::memory_order_relaxed);
    }
    ~Busy()
    {
        worker_.runs_since_ns.store(since_, std::memory_order_relaxed);
        worker_.expected_ns.store(expected_, std::memory_order_relaxed);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    Worker& worker_;
    const std::int64_t since_, expected_; ///< of what was interrupted
};

bool inside(const Task& task, const TaskFlow& flow)
{
    for (const TaskFlow* f = task.flow; f; f = f->parent())
        if (f == &flow) return true;
    return false;
}

} // namespace

NativeEngine::NativeEngine(EngineParts parts)
    : parts_(std::move(parts)), speeds_(kinds_of(parts_.workers), parts_.nominal_flops_per_second),
      recorder_(static_cast<int>(parts_.workers.size())), concurrent_(parts_.scheduler.entry->concurrent)
{
    for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
        workers_.push_back(std::make_unique<Worker>());
        workers_.back()->id = static_cast<WorkerId>(i);
        workers_.back()->place = parts_.workers[i];
        recorder_.describe(static_cast<WorkerId>(i), parts_.workers[i].cpu, parts_.workers[i].kind_name);
    }
    scheduler_ = make_scheduler();
    bounded_ = scheduler_->bounded();
    wakes_all_ = scheduler_->wakes_all();
    wants_finished_ = scheduler_->wants_finished() && !concurrent_;
    try {
        for (auto& worker : workers_) new_holder(*worker);
    } catch (...) {
        stop_.store(true);
        for (auto& holder : holders_) holder->unit->resume();
        for (auto& holder : holders_) holder->unit.reset();
        throw;
    }
    for (auto& holder : holders_) holder->unit->resume();
}

NativeEngine::~NativeEngine()
{
    stop_.store(true, std::memory_order_seq_cst);
    changed_.notify_all();
    for (auto& worker : workers_) {
        std::lock_guard lock(worker->lock);
        for (Holder* spare : worker->spare) spare->unit->resume();
        worker->spare.clear();
    }
    for (auto& holder : holders_) holder->unit.reset(); // joins
}

/// One policy, or one per memory node beside it. A policy that cannot be made for a node's workers alone, because its options number
/// workers, is not split: binds() says so.
std::unique_ptr<Scheduler> NativeEngine::make_scheduler()
{
    const View& view = *this;
    std::vector<int> nodes;
    for (const auto& worker : workers_) nodes.push_back(worker->place.node);
    const bool several = std::adjacent_find(nodes.begin(), nodes.end(), std::not_equal_to<>()) != nodes.end();
    if (!several) return parts_.scheduler.make(view);
    try {
        auto policies = std::make_unique<NodePolicies>(view, parts_.scheduler, nodes);
        idle_on_node_.resize(std::size_t(*std::max_element(nodes.begin(), nodes.end())) + 1);
        for (const int node : nodes)
            if (!idle_on_node_[node]) idle_on_node_[node] = std::make_unique<std::atomic<int>>(0);
        splits_nodes_ = true;
        return policies;
    } catch (const Error&) {
        return parts_.scheduler.make(view);
    }
}

/// May the worker run what is for this node?
bool NativeEngine::allowed(const Worker& worker, int node) const { return !binds(node) || worker.place.node == node; }

bool NativeEngine::somebody_idle(const Task& task) const
{
    if (binds(task.node)) return idle_on_node_[task.node]->load(std::memory_order_relaxed) > 0;
    return idle_.load(std::memory_order_relaxed) > 0;
}
void NativeEngine::count_idle(const Worker& worker, int change)
{
    idle_.fetch_add(change, std::memory_order_relaxed);
    if (splits_nodes_) idle_on_node_[worker.place.node]->fetch_add(change, std::memory_order_seq_cst);
}

// ---- units and workers ----------------------------------------------------------------------------------------

Worker* NativeEngine::here() const { return position.engine == this ? position.worker : nullptr; }

/// A unit for the worker, asleep until it is resumed.
Holder& NativeEngine::new_holder(Worker& worker)
{
    Holder* holder = nullptr;
    {
        std::lock_guard lock(holders_lock_);
        holders_.push_back(std::make_unique<Holder>());
        holder = holders_.back().get();
    }
    holder->worker = &worker;
    try {
        const int cpu = worker.place.on_cpu >= -1 ? worker.place.on_cpu : worker.place.cpu;
        holder->unit = parts_.threads->start(cpu, [this, holder](Unit& unit) { hold(*holder, unit); });
    } catch (...) {
        std::lock_guard lock(holders_lock_);
        std::erase_if(holders_, [holder](const auto& owned) { return owned.get() == holder; });
        throw;
    }
    return *holder;
}

/// A unit's life: hold the worker, give it back to one that waited, be spare, hold it again.
void NativeEngine::hold(Holder& holder, Unit& unit)
{
    Worker& worker = *holder.worker;
    position = {this, &worker, &holder, nullptr};
    unit.suspend();
    while (!stop_.load(std::memory_order_acquire)) {
        work(worker, std::exchange(holder.first, nullptr));
        Holder* next = nullptr;
        {
            std::lock_guard lock(worker.lock);
            if (stop_.load(std::memory_order_acquire)) return;
            next = worker.resumable.back();
            worker.resumable.pop_back();
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
            worker.spare.push_back(&holder);
        }
        next->unit->resume();
        unit.suspend();
    }
}

/// Runs tasks until the engine stops or another unit wants the worker back.
void NativeEngine::work(Worker& worker, Task* first)
{
    if (first) execute(worker, *first);
    while (!disturbed(worker, nullptr)) {
        Found found = look(worker);
        if (!found) found = idle(worker, nullptr);
        act(worker, found);
    }
    push_released(worker);
}

/// Should the unit that holds the worker look at something other than tasks?
bool NativeEngine::disturbed(const Worker& worker, const Wait* wait) const
{
    return worker.has_resumable.load(std::memory_order_acquire) || stop_.load(std::memory_order_acquire) ||
           (wait && wait->over());
}

// ---- finding something to do ----------------------------------------------------------------------------------

/// The caller holds the lock, unless the scheduler needs none. Returns how many sleepers to wake: one per task; for a
/// task that is for one node everybody, if somebody there has nothing to do.
int NativeEngine::push(Task* chain, WorkerId from)
{
    int count = 0, wakes = 0;
    std::uint64_t nodes = 0; // of tasks that are for one; those with the same number modulo 64 share a bit
    while (chain) {
        Task* task = chain;
        chain = chain->next; // before the push: another worker may run the task at once
        ++count;
        if (binds(task->node)) nodes |= std::uint64_t{1} << (task->node & 63);
        else ++wakes;
        scheduler_->push(*task, from);
    }
    if (!concurrent_ && count) queued_.store(queued_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    // A worker counts itself idle, then looks, then sleeps; we have pushed and look at the count: one of the two sees the other.
    if (nodes) std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::size_t node = 0; nodes && node < idle_on_node_.size(); ++node)
        if ((nodes >> (node & 63) & 1) && idle_on_node_[node] && idle_on_node_[node]->load(std::memory_order_relaxed) > 0)
            return workers();
    return wakes;
}

void NativeEngine::ready(Task* chain)
{
    const Worker* worker = here();
    int count = 0;
    {
        std::unique_lock lock(scheduler_lock_, std::defer_lock);
        if (!concurrent_) lock.lock();
        count = push(chain, worker ? worker->id : no_worker);
    }
    wake(count);
}

/// So many sleepers; all of them where a task may be for certain workers only.
void NativeEngine::wake(int count)
{
    if (wakes_all_) changed_.notify_all();
    else changed_.notify(count);
}

void NativeEngine::submitted(Task& task)
{
    const Worker* worker = here();
    bool full = false;
    if (worker && bounded_) {
        std::unique_lock lock(scheduler_lock_, std::defer_lock);
        if (!concurrent_) lock.lock();
        full = !scheduler_->has_room(worker->id);
    }
    if (!full || !run_here(task)) ready(&task);
}

/// On the stack of the task that submits it. That one cannot hold what this one needs: it waits for it in any case.
bool NativeEngine::run_here(Task& task)
{
    Worker* worker = here();
    if (!worker || !allowed(*worker, task.node)) return false;
    execute(*worker, task);
    push_released(*worker);
    return true;
}

/// For a holder that does not go on to look for a task.
void NativeEngine::push_released(Worker& worker)
{
    if (Task* chain = std::exchange(worker.released, nullptr)) ready(chain);
}

NativeEngine::Found NativeEngine::look(Worker& worker)
{
    Decision decision = choose(worker);
    while (!decision.run && undiscovered_flows_.load(std::memory_order_relaxed) > 0 && discover(worker))
        decision = choose(worker);
    if (decision.run) return {decision.run, nullptr, decision.offer, 0};
    Found found;
    found.again_ns = static_cast<std::int64_t>(decision.again_in * 1e9);
    if (decision.join == no_worker) return found;
    Share* share = workers_[decision.join]->offer.load(std::memory_order_acquire);
    if (share && allowed(worker, share->node()) && share->try_join()) found.share = share;
    return found;
}

/// Asks the scheduler, after giving it what the worker released.
Decision NativeEngine::choose(Worker& worker)
{
    Decision decision;
    int released = 0;
    if (concurrent_) {
        released = push(std::exchange(worker.released, nullptr), worker.id);
        decision = scheduler_->pop(worker.id);
    } else if (worker.released || queued_.load(std::memory_order_relaxed) > 0 || offers_.load(std::memory_order_relaxed) > 0) {
        std::lock_guard lock(scheduler_lock_);
        released = push(std::exchange(worker.released, nullptr), worker.id);
        decision = scheduler_->pop(worker.id);
        if (decision.run) queued_.store(queued_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    // One released is for this worker, where any worker will do.
    const int wakes = decision.exposed + (wakes_all_ ? released : std::max(0, released - 1));
    if (wakes) wake(wakes);
    return decision;
}

// ---- dependences found at steal -------------------------------------------------------------------------------

void NativeEngine::undiscovered(TaskFlow& flow)
{
    {
        std::lock_guard lock(undiscovered_lock_);
        if (std::find(undiscovered_.begin(), undiscovered_.end(), &flow) == undiscovered_.end()) undiscovered_.push_back(&flow);
        undiscovered_flows_.store(static_cast<int>(undiscovered_.size()), std::memory_order_relaxed);
    }
    changed_.notify(1);
}

/// A worker that found nothing looks at a few tasks of some flow. False: there is nothing to look at. The lock keeps the flow
/// alive meanwhile, see forget.
bool NativeEngine::discover(Worker& worker)
{
    constexpr int batch = 16;
    std::lock_guard lock(undiscovered_lock_);
    while (!undiscovered_.empty()) {
        int found = 0;
        Task** end = &worker.released;
        while (*end) end = &(*end)->next;
        *end = undiscovered_.back()->discover(batch, found);
        if (found) return true;
        undiscovered_.pop_back();
        undiscovered_flows_.store(static_cast<int>(undiscovered_.size()), std::memory_order_relaxed);
    }
    return false;
}

void NativeEngine::forget(TaskFlow& flow)
{
    std::lock_guard lock(undiscovered_lock_);
    std::erase(undiscovered_, &flow);
    undiscovered_flows_.store(static_cast<int>(undiscovered_.size()), std::memory_order_relaxed);
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

Seconds NativeEngine::free_at(WorkerId worker) const
{
    const std::int64_t since = workers_[worker]->runs_since_ns.load(std::memory_order_relaxed);
    const std::int64_t expected = workers_[worker]->expected_ns.load(std::memory_order_relaxed);
    const std::int64_t now = now_ns();
    if (since == 0) return now * 1e-9;
    if (expected == Worker::never) return std::numeric_limits<Seconds>::infinity();
    const std::int64_t late = std::max<std::int64_t>(0, now - (since + expected));
    return (since + expected + 2 * late) * 1e-9;
}

/// Nothing to do: spins, then sleeps, until there is, or until the unit is disturbed.
NativeEngine::Found NativeEngine::idle(Worker& worker, Wait* wait)
{
    count_idle(worker, 1);
    const std::int64_t begin = now_ns();
    Found found;
    while (!found && !disturbed(worker, wait)) {
        if (now_ns() - begin > spin_ns) {
            found = sleep(worker, wait);
            break;
        }
        for (int i = 0; i < 16; ++i) relax();
        found = look(worker);
    }
    count_idle(worker, -1);
    if (recorder_.enabled()) recorder_.record(worker.id, {"idle", 0, begin, now_ns(), 0, EventKind::idle});
    return found;
}

NativeEngine::Found NativeEngine::sleep(Worker& worker, Wait* wait)
{
    // From here on the finisher that brings the flow to its target notifies us.
    if (wait && !wait->flow.begin_suspension(wait->target, &wait->waiter)) return {};
    const std::uint32_t key = changed_.prepare();
    const Found found = look(worker);
    if (found || disturbed(worker, wait)) changed_.cancel();
    else if (found.again_ns) changed_.wait_for(key, found.again_ns);
    else changed_.wait(key);
    if (wait && !wait->flow.end_suspension(wait->target)) wait->waiter.parker.park();
    return found;
}

// ---- running --------------------------------------------------------------------------------------------------

/// What to do with a piece of a task's run.
auto NativeEngine::account(Worker& worker)
{
    return [this, &worker](const Segment& piece, std::int64_t end_ns) {
        add(worker.busy_ns, end_ns - piece.begin_ns);
        if (recorder_.enabled()) recorder_.record(worker.id, event_of(piece, end_ns));
    };
}

void NativeEngine::act(Worker& worker, Found found)
{
    if (found.task) execute(worker, *found.task, found.offer);
    else if (found.share) run_shared(worker, *found.share, false);
}

void NativeEngine::execute(Worker& worker, Task& task, bool offer)
{
    if (!task.flow->may_run(task)) {
        if (wants_finished_) tell_finished(worker, task, 0);
        return conclude(worker, task, nullptr);
    }
    const Index chunks = task.codelet->chunks ? task.codelet->chunks(task.args) : 1;
    // Cutting an operation up costs some of its speed, so it is done only when somebody has nothing to do or soon will have.
    const bool open = chunks > 1 && (offer || somebody_idle(task));
    Share* share = open ? unused_share(worker) : nullptr;
    const Busy busy(worker, task, run_time(task, worker.id));
    if (!share) return run_alone(worker, task, chunks);
    share->open(task, chunks);
    worker.offer.store(share, std::memory_order_release);
    offers_.fetch_add(1, std::memory_order_relaxed);
    wake(binds(task.node) ? workers() : static_cast<int>(std::min<Index>(chunks - 1, workers())));
    run_shared(worker, *share, true);
}

Share* NativeEngine::unused_share(Worker& worker)
{
    for (Share& share : worker.shares)
        if (share.unused()) return &share;
    return nullptr; // every one still has a member that was preempted
}

void NativeEngine::run_alone(Worker& worker, Task& task, Index chunks)
{
    SharedWork work(chunks, chunks);
    std::exception_ptr failure;
    const Segment outer = worker.stopwatch.begin(&task, EventKind::task, account(worker));
    try {
        run_body(worker, task, work);
    } catch (...) {
        failure = std::current_exception();
    }
    const std::int64_t ns = worker.stopwatch.end(outer, account(worker));
    observe(worker, task, 1, ns);
    add(worker.tasks, 1);
    if (wants_finished_) tell_finished(worker, task, ns);
    conclude(worker, task, std::move(failure));
}

void NativeEngine::run_shared(Worker& worker, Share& share, bool owner)
{
    Task& task = share.task();
    const Segment outer = worker.stopwatch.begin(&task, owner ? EventKind::task : EventKind::share, account(worker));
    Index taken = 0;
    try {
        taken = run_body(worker, task, share.work(), chunks_at_a_time(worker, task));
    } catch (...) {
        share.fail(std::current_exception());
    }
    const std::int64_t ns = worker.stopwatch.end(outer, account(worker));
    observe(worker, task, double(taken) / double(share.work().count()), ns);
    add(owner ? worker.tasks : worker.joined, 1);
    if (owner) {
        worker.offer.store(nullptr, std::memory_order_relaxed);
        offers_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (!share.leave(owner)) return;
    if (wants_finished_) tell_finished(worker, task, ns);
    conclude(worker, task, share.retire());
}

void NativeEngine::tell_finished(const Worker& worker, const Task& task, std::int64_t ns)
{
    std::lock_guard lock(scheduler_lock_);
    scheduler_->finished(task, worker.id, ns * 1e-9);
}

/// The task's own code, and what it has submitted inside. Returns how many chunks this worker had.
Index NativeEngine::run_body(Worker& worker, Task& task, SharedWork& work, Index at_a_time)
{
    if (worker.place.slow < 1) {
        SlowPace pace(worker.place.slow);
        Team team(work, &pace, at_a_time);
        TaskContext context(task, team, worker.id);
        task.codelet->core(task.args, context);
        pace.between_chunks();
        context.finish_children();
        return team.taken();
    }
    Team team(work, nullptr, at_a_time);
    TaskContext context(task, team, worker.id);
    task.codelet->core(task.args, context);
    context.finish_children();
    return team.taken();
}

/// One for a core that is slow now, so that it holds little back; two for the others.
Index NativeEngine::chunks_at_a_time(const Worker& worker, const Task& task) const
{
    constexpr double slow = 1.5;
    return task.flops > 0 && run_time(task, worker.id) > slow * estimate(*task.codelet, task.flops) ? 1 : 2;
}

/// Learns from a run of a part of the task, 0 to 1.
void NativeEngine::observe(const Worker& worker, const Task& task, double part, std::int64_t ns)
{
    if (task.flops > 0 && part > 0) speeds_.observe(worker.id, *task.codelet, part * task.flops, ns * 1e-9, now());
}

/// The task is over. What it released waits for the holder's next look, which follows at once (see push_released).
void NativeEngine::conclude(Worker& worker, Task& task, std::exception_ptr failure)
{
    Task* chain = task.flow->finish(task, std::move(failure));
    if (!chain) return;
    Task** end = &worker.released;
    while (*end) end = &(*end)->next;
    *end = chain;
}

std::vector<WorkerTime> NativeEngine::times() const
{
    std::vector<WorkerTime> times;
    for (const auto& worker : workers_)
        times.push_back({worker->busy_ns.load(std::memory_order_relaxed), worker->tasks.load(std::memory_order_relaxed),
                         worker->joined.load(std::memory_order_relaxed)});
    return times;
}

// ---- waiting --------------------------------------------------------------------------------------------------

void NativeEngine::poll_while_waiting(const std::function<bool()>* poll) { position.poll = poll; }

void NativeEngine::drain(TaskFlow& flow, std::int64_t target)
{
    if (flow.pending() <= target) return;
    Wait wait{flow, target, {}};
    Worker* worker = here();
    wait.waiter.worker = worker;
    if (worker) drain_on(*worker, wait);
    else drain_outside(wait);
}

void NativeEngine::drain_outside(Wait& wait)
{
    if (!wait.flow.begin_suspension(wait.target, &wait.waiter)) return;
    bool asked = position.poll == nullptr;
    while (!wait.waiter.parker.park_for(asked ? -1 : poll_interval_ns)) {
        if (asked || !(*position.poll)()) continue;
        asked = true;
        wait.flow.cancel();
    }
    wait.flow.end_suspension(wait.target);
}

void NativeEngine::drain_on(Worker& worker, Wait& wait)
{
    const Segment outer = worker.stopwatch.begin(nullptr, EventKind::task, account(worker));
    const std::int64_t since = worker.runs_since_ns.exchange(0, std::memory_order_relaxed); // it looks for work
    while (!wait.over()) {
        if (worker.has_resumable.load(std::memory_order_acquire) && hand_over(worker, nullptr, wait)) continue;
        Found found = look(worker);
        if (!found) found = idle(worker, &wait);
        if (found.task && !inside(*found.task, wait.flow) && hand_over(worker, found.task, wait)) continue;
        act(worker, found);
    }
    push_released(worker);
    worker.runs_since_ns.store(since, std::memory_order_relaxed);
    worker.stopwatch.end(outer, account(worker));
}

/// The unit that takes the worker over: one that wants it back first (unless there is a task to run), a spare one, a new one.
Holder* NativeEngine::successor(Worker& worker, Task* first)
{
    {
        std::lock_guard lock(worker.lock);
        auto& from = !first && !worker.resumable.empty() ? worker.resumable : worker.spare;
        if (!from.empty()) {
            Holder* holder = from.back();
            from.pop_back();
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
            return holder;
        }
    }
    if (!first) return nullptr;
    try {
        return &new_holder(worker);
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// Another unit takes the worker (and the task); the caller sleeps until its flow is at the target and it has the worker
/// back. False: nobody can take it over. Then the caller runs the task itself, which is right for all tasks but
/// those that need something the caller holds.
bool NativeEngine::hand_over(Worker& worker, Task* first, Wait& wait)
{
    push_released(worker);
    Holder* next = successor(worker, first);
    if (!next) return false;
    Holder& self = *position.holder;
    wait.waiter.holder = &self;
    if (wait.flow.begin_suspension(wait.target, &wait.waiter)) {
        const Segment mine = worker.stopwatch.take_out();
        next->first = first;
        next->unit->resume();
        self.unit->suspend();
        worker.stopwatch.put_back(mine);
        wait.flow.end_suspension(wait.target);
    } else {
        // The flow came down meanwhile. Put everything back; the task goes to whoever looks next.
        {
            std::lock_guard lock(worker.lock);
            (first ? worker.spare : worker.resumable).push_back(next);
            worker.has_resumable.store(!worker.resumable.empty(), std::memory_order_relaxed);
        }
        if (first) {
            first->next = nullptr;
            ready(first);
        }
    }
    wait.waiter.holder = nullptr;
    return true;
}

void NativeEngine::wake_owner(TaskFlow& flow)
{
    Waiter& waiter = *static_cast<Waiter*>(flow.waiter());
    if (Holder* holder = waiter.holder) {
        Worker& worker = *holder->worker;
        {
            std::lock_guard lock(worker.lock);
            worker.resumable.push_back(holder);
            worker.has_resumable.store(true, std::memory_order_release);
        }
        changed_.notify_all();
        return;
    }
    if (waiter.worker) changed_.notify_all(); // it sleeps as an idle worker
    waiter.parker.unpark();
}

extern const EngineEntry engine_native;
const EngineEntry engine_native{
    {"native", "one pinned worker per core, idle workers join running operations", "trencadis"},
    {.parallel = true, .live_priorities = true, .malleable = true, .emulates_slow = true},
    [](EngineParts parts) { return std::unique_ptr<Engine>(std::make_unique<NativeEngine>(std::move(parts))); },
};

} // namespace trencadis
