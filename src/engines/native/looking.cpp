#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <utility>

namespace trencadis {

namespace {

/// A guest waits for the last pieces of its own call, which others are at.
constexpr std::int64_t guest_spin_ns = 200'000;

} // namespace

Worker* NativeEngine::here() const { return position.engine == this ? position.worker : nullptr; }

/// Should the unit that holds the worker look at something other than tasks?
bool NativeEngine::disturbed(const Worker& worker, const Wait* wait) const
{
    return worker.succession.wanted() || stop_.load(std::memory_order_acquire) ||
           (wait && (wait->over() || leaves(*wait, false)));
}

bool NativeEngine::any_work() const
{
    return concurrent_ || queued_.load(std::memory_order_relaxed) > 0 || offers_.load(std::memory_order_relaxed) > 0;
}

/// The caller alone has the tasks: the policy sees them afterwards.
void NativeEngine::locate(Task* chain) const
{
    for (; locates_ && chain; chain = chain->next) memory_.locate(*chain);
}

/// The caller holds the lock, unless the scheduler needs none. Returns how many sleepers to wake: one per task; for a
/// task that is for one node everybody, if somebody there has nothing to do.
int NativeEngine::push(Task* chain, WorkerId from)
{
    int count = 0, wakes = 0;
    std::uint64_t nodes = 0; // of tasks that are for one; those with the same number modulo 64 share a bit
    push_each(chain, from, [&](const Task& task) {
        ++count;
        if (binds(task.node)) nodes |= std::uint64_t{1} << (task.node & 63);
        else ++wakes;
    });
    if (!concurrent_ && count) queued_.store(queued_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    if (devices_) wakes = std::min(wakes, scheduler_->for_workers_below(cores(), count));
    // A worker counts itself idle, then looks, then sleeps; we have pushed and look at the count: one of the two sees the other.
    if (nodes) std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::size_t node = 0; nodes && node < idle_on_node_.size(); ++node)
        if ((nodes >> (node & 63) & 1) && idle_on_node_[node].load(std::memory_order_relaxed) > 0) return workers();
    return wakes;
}

void NativeEngine::ready(Task* chain)
{
    const Worker* worker = here();
    int count = 0;
    const bool alone = cores_alone(chain);
    locate(chain);
    with_policy([&] { count = push(chain, worker ? worker->id : no_worker); });
    wake(count, alone);
}

bool NativeEngine::somebody_idle(const Task& task) const
{
    const std::atomic<int>& idle = binds(task.node) ? idle_on_node_[std::size_t(task.node)] : idle_;
    return idle.load(std::memory_order_relaxed) > 0;
}

void NativeEngine::count_idle(const Worker& worker, int change)
{
    idle_.fetch_add(change, std::memory_order_relaxed);
    if (binding_.splits()) idle_on_node_[std::size_t(worker.place.node)].fetch_add(change, std::memory_order_seq_cst);
}

/// So many sleepers; all of them where the policy may mean certain workers. Devices look at whatever is there, for not every
/// worker can run every task; `cores_alone`: they sleep on. Each core that is woken for nothing costs whoever wakes it 5 us.
void NativeEngine::wake(int count, bool cores_alone)
{
    if (policy_wakes_all_) count = 2 * workers();
    sleepers_.notify(count, cores(), workers());
    for (WorkerId device = cores(); !cores_alone && device < workers(); ++device) sleepers_.notify_one(device);
}

/// Calls that devices are left out of say so; those that sleep are not to be woken for each of their tasks.
bool NativeEngine::cores_alone(const Task* chain) const
{
    if (!devices_) return false;
    while (chain && !DeviceMemory::tracks(*chain)) chain = chain->next;
    return !chain;
}

/// Whoever holds it.
void NativeEngine::wake_worker(const Worker& worker)
{
    sleepers_.notify_one(worker.id);
    sleepers_.notify_one(worker.id + workers());
}

/// A caller that submits itself may not have to wait for long, nor find a task that is ready.
void NativeEngine::submitting(TaskFlow& flow)
{
    constexpr std::uint64_t seldom = 64; // the clock takes a tenth of a submission
    if (position.poll && flow.submissions() % seldom == 0) ask_caller(flow);
}

void NativeEngine::submitted(Task& task)
{
    if (position.poll) ask_caller(*task.flow); // the last one may have been run at once, and been long
    WorkerProtocol::submitted(task);
}

Found NativeEngine::look(Worker& worker)
{
    if (relief_.is_away(worker.relief)) {
        push_released(worker); // who waits for it need not wait for this worker's core, too
        relief_.go_home(worker.relief);
    }
    return seek(worker);
}

Found NativeEngine::joined(Worker& worker, const Decision& decision)
{
    Found found;
    if (!is_device(worker.id) && call_.try_join()) {
        found.call = &call_;
        return found;
    }
    found.again_ns = static_cast<std::int64_t>(decision.again_in * 1e9);
    if (is_device(worker.id)) return found;
    if (decision.join == no_worker) return found;
    Share* share = workers_[decision.join]->offer.load(std::memory_order_acquire);
    if (share && binding_.allows(worker.id, share->node()) && share->try_join()) found.share = share;
    return found;
}

/// Under the lock.
void NativeEngine::taken(const Task&)
{
    if (!concurrent_) queued_.store(queued_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

/// Should the worker leave what there is to the others? Only while one of them is at work: alone it takes everything.
bool NativeEngine::holds_back(Worker& worker) const
{
    return idle_.load(std::memory_order_relaxed) < cores() - 1 && worker.reluctance.stays_away();
}

/// Nothing to do: spins, then sleeps, until there is, or until the unit is disturbed.
Found NativeEngine::idle(Worker& worker, Wait* wait)
{
    if (is_device(worker.id)) return idle_device(worker);
    count_idle(worker, 1);
    const std::int64_t begin = worker.idle_since_ns = now_ns();
    const bool guest = position.holder->guest != nullptr;
    Relief::Watch watch(relief_, worker.relief);
    const auto spin_ns = [&](std::int64_t now) { return std::max(worker.patience.spin_ns(now), guest ? guest_spin_ns : 0); };
    std::int64_t awake_since = begin, spin_until = begin + spin_ns(begin), last = begin;
    Found found;
    bool woken = false;
    while (!found && !disturbed(worker, wait)) {
        for (int i = 0; i < 16; ++i) relax();
        const bool away = !wait && worker.reluctance.is_away(last) && idle_.load(std::memory_order_relaxed) < cores();
        if (!away) found = look(worker);
        const std::int64_t now = now_ns(), passed = now - std::exchange(last, now);
        if (!found) watch.look();
        const bool spins = now < spin_until && watch.may_spin(now - awake_since, now);
        if (found || (!worker.patience.crowded(now, passed) && (away || spins))) continue;
        bool notified = false;
        found = sleep(worker, wait, watch.nap_ns(), notified);
        last = now_ns();
        woken |= notified;
        if (notified) {
            awake_since = worker.woke_ns = last;
            spin_until = std::max(last + spin_ns(last), alert_until_ns_.load(std::memory_order_relaxed));
        }
        watch.slept(notified, idle_.load(std::memory_order_relaxed));
    }
    count_idle(worker, -1);
    if (woken && !found && any_work()) wake(1, false); // it may have been for a task, which is left to another one
    const std::int64_t end = now_ns();
    worker.reluctance.begin(end);
    if (worker.idle_since_ns == begin && !guest) worker.patience.waited(end - begin);
    if (recorder_.enabled()) recorder_.record(worker.id, {"idle", 0, worker.idle_since_ns, end, 0, EventKind::idle});
    return found;
}

/// Until something changes, which is said, or about `most_ns` have passed.
Found NativeEngine::sleep(Worker& worker, Wait* wait, std::int64_t most_ns, bool& notified)
{
    // From here on the finisher that brings the flow to its target notifies us.
    if (wait && !wait->flow.begin_suspension(wait->target, wait)) return {};
    Holder& self = *position.holder;
    const int bed = bed_of(self);
    sleepers_.prepare(bed);
    Found found = look(worker);
    if (found.again_ns) most_ns = std::min(most_ns, found.again_ns);
    if (found || disturbed(worker, wait)) sleepers_.cancel(bed);
    else {
        const bool place_is_free = !wait && !self.guest;
        if (place_is_free) worker.resting = &self;
        notified = sleepers_.wait(bed, most_ns < Relief::forever ? most_ns : -1, place_is_free);
        introduce(worker);
        found = WorkerProtocol::found(std::exchange(self.first, {})); // from a guest that had the place
    }
    if (wait && !wait->flow.end_suspension(wait->target)) wait->parker.park();
    return found;
}

} // namespace trencadis
