#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <exception>
#include <sched.h>

namespace trencadis {

namespace {

/// A call that lasts longer is not worth the doubt where the system runs the caller's thread: the worker's own is pinned.
constexpr std::int64_t longest_visit_ns = 20'000'000;

} // namespace

/// The worker of the core that the caller is on; no_worker.
WorkerId NativeEngine::worker_here() const
{
    const int cpu = sched_getcpu();
    return cpu >= 0 && cpu < int(worker_on_.size()) ? worker_on_[std::size_t(cpu)] : no_worker;
}

/// The worker of the core that the caller is on, if it rests, else another one that does. Where the session was given certain
/// cores, a caller on another one stays away.
Worker* NativeEngine::free_place()
{
    const WorkerId mine = worker_here();
    if (mine != no_worker && sleepers_.displace(mine)) return workers_[mine].get();
    if (mine == no_worker && !parts_.callers_anywhere) return nullptr;
    for (const auto& worker : workers_)
        if (sleepers_.displace(worker->id)) return worker.get();
    return nullptr;
}

/// But the one whose place the caller will have.
void NativeEngine::rouse(int helpers, std::int64_t for_ns)
{
    alert_until_ns_.store(now_ns() + for_ns, std::memory_order_relaxed);
    const WorkerId left = std::max(worker_here(), 0);
    for (const auto& worker : workers_)
        if (worker->id != left && helpers-- > 0) sleepers_.notify_one(worker->id);
}

bool NativeEngine::has_room() const
{
    for (int worker = 0; worker < workers(); ++worker)
        if (sleepers_.is_free(worker)) return true;
    return false;
}

bool NativeEngine::are_others_crowded() const
{
    const WorkerId mine = worker_here();
    const std::int64_t now = now_ns();
    return cores() > 1 && std::ranges::all_of(workers_, [&](const auto& worker) {
               return worker->id == mine || is_device(worker->id) || worker->patience.is_crowded(now);
           });
}

bool NativeEngine::attend(TaskFlow& flow, const std::function<void()>& call)
{
    if (position.engine) return false;
    Worker* const worker = free_place();
    if (!worker) return false;
    const FloatScope standard_modes{FloatModes::standard_here()};
    Guest guest(*worker, *worker->resting, flow);
    struct Visit {
        NativeEngine& engine;
        Guest& guest;
        ~Visit()
        {
            if (position.holder) engine.depart(guest, {});
        }
    } visit{*this, guest};
    arrive(guest);
    call();
    return true;
}

void NativeEngine::arrive(Guest& guest)
{
    Worker& worker = *guest.worker;
    position = {this, &worker, &guest, position.poll, position.next_poll_ns};
    set_here(this);
    introduce(worker);
    count_idle(worker, -1);
    const std::int64_t now = now_ns();
    guest.until_ns = now + longest_visit_ns;
    line_cost_.write(worker.id, now);
    if (recorder_.enabled()) recorder_.record(worker.id, {"idle", 0, worker.idle_since_ns, now, 0, EventKind::idle});
}

/// Is there anything that the worker's own unit should be woken for?
bool NativeEngine::has_work(const Worker& worker) const { return any_work() || undiscovered_.any() || disturbed(worker); }

/// The worker's own unit has its place again, and the task to begin with. Who brings more work while the guest leaves finds the
/// own unit asleep, or is found by the look after restore: nothing is overlooked. The next guest may be there before this one has
/// looked.
void NativeEngine::depart(Guest& guest, const FirstTask& first)
{
    Worker& worker = *guest.worker;
    push_released(worker);
    count_idle(worker, 1);
    worker.idle_since_ns = now_ns();
    position = {nullptr, nullptr, nullptr, position.poll, position.next_poll_ns};
    set_here(nullptr);
    guest.displaced->first = first;
    give_place_back(worker, *guest.displaced);
}

void NativeEngine::give_place_back(const Worker& worker, Holder& own)
{
    const int bed = bed_of(own);
    if (own.first.task || has_work(worker)) return sleepers_.call_back(bed);
    sleepers_.restore(bed);
    if (has_work(worker)) sleepers_.notify_one(bed);
}

/// Tasks would be seen, in a trace or by a test; and it pays where most of those who can help are awake, or where the call is
/// long enough to wake some. Where a member's core was taken away lately, it is likely to be again, and tasks are what relief
/// can help.
bool NativeEngine::shares(Flops flops) const
{
    if (!shares_calls_ || workers() == 1 || position.engine || recorder_.enabled() || is_wary()) return false;
    const int awake = spinning();
    return (awake > 0 && 2 * awake >= std::min(helpers_for(flops, workers()), workers() - 1)) || worth_waking(flops) > 0;
}

/// So many of those who sleep. The caller's time alone is that at the multiply-add peak: it takes no less.
int NativeEngine::worth_waking(Flops flops) const
{
    const double alone_ns = flops / (2e-9 * parts_.nominal_flops_per_second);
    const int awake = std::max(spinning(), 0), helpers = std::min(helpers_for(flops, workers()), workers() - 1);
    return wake_cost_.helpers(alone_ns, awake, helpers - awake, now_ns());
}

void NativeEngine::wake_for_call(int count)
{
    if (count <= 0) return;
    const std::int64_t begin = now_ns();
    woken_at_ns_.store(begin, std::memory_order_relaxed);
    int woken = 0;
    for (const auto& worker : workers_)
        if (woken < count && sleepers_.is_free(worker->id)) sleepers_.notify_one(worker->id), ++woken;
    const std::int64_t end = now_ns();
    if (woken > 0) wake_cost_.note_call((end - begin) / woken, end);
    else woken_at_ns_.store(0, std::memory_order_relaxed);
}

/// Until those who have joined are out: soon, unless the system has taken a core from one of them, who then is given that of the
/// caller's place. For how long, where it was for long all the same; else 0.
std::int64_t NativeEngine::await_members(Worker& worker, std::int64_t since)
{
    constexpr std::int64_t spin_ns = 200'000, nap_ns = 100'000;
    std::int64_t look_at = since + Relief::look_ns;
    bool gave = false;
    while (!call_.deserted()) {
        const std::int64_t now = now_ns();
        if (now >= look_at) {
            gave |= relief_.help_members(worker.relief);
            look_at = now + Relief::look_ns;
        }
        if (gave || now - since >= spin_ns) call_.sleep(nap_ns);
        else relax();
    }
    const std::int64_t passed = now_ns() - since;
    return passed >= spin_ns ? passed : 0;
}

/// Waits for those who have joined. Of those who were woken and have not come it is known that they take longer than the call.
void NativeEngine::close_call(Worker& worker, std::int64_t computed)
{
    const std::int64_t lost = call_.close() ? 0 : await_members(worker, computed);
    if (lost > 0 && relief_.is_on()) wariness_.was_late(lost, computed + lost);
    if (const std::int64_t woken = woken_at_ns_.exchange(0, std::memory_order_relaxed))
        wake_cost_.note_delay(std::max(computed - woken, WakeCost::usual_delay_ns), computed);
}

/// Nothing goes by it where tasks would be seen, cores are emulated or devices take part.
std::int64_t NativeEngine::line_ns() const
{
    return shares_calls_ && !recorder_.enabled() ? line_cost_.ns(now_ns()) : LineCost::usual_ns;
}

bool NativeEngine::is_wary() const { return wariness_.is_on(now_ns()); }

bool NativeEngine::share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops)
{
    if (!shares(flops) || !call_.claim()) return false;
    Worker* const worker = free_place();
    if (!worker) {
        call_.retire();
        return false;
    }
    const std::int64_t begin = now_ns();
    count_idle(*worker, -1);
    std::exception_ptr failure;
    line_cost_.write(worker->id, begin);
    call_.open(work, chunks);
    wake_for_call(worth_waking(flops));
    try {
        call_.compute();
    } catch (...) {
        failure = std::current_exception();
    }
    const std::int64_t computed = now_ns();
    close_call(*worker, computed);
    raise_quietly(call_.raised());
    if (std::exception_ptr theirs = call_.retire(); theirs && !failure) failure = std::move(theirs);
    add(worker->busy_ns, computed - begin);
    add(worker->tasks, 1);
    worker->idle_since_ns = computed;
    count_idle(*worker, 1);
    give_place_back(*worker, *worker->resting);
    if (failure) std::rethrow_exception(failure);
    return true;
}

void NativeEngine::join(Worker& worker, OpenCall& call)
{
    const std::int64_t begin = now_ns();
    if (const std::int64_t woken = woken_at_ns_.load(std::memory_order_relaxed); woken > 0 && worker.woke_ns > woken) {
        woken_at_ns_.store(0, std::memory_order_relaxed);
        wake_cost_.note_delay(begin - woken, begin);
    }
    line_cost_.read(worker.id);
    add(worker.joined, 1);
    const Relief::Joined joined(worker.relief);
    call.take_part();
    add(worker.busy_ns, now_ns() - begin);
}

/// Does a guest that waits for its whole call go, to sleep outside?
bool NativeEngine::leaves(const Wait& wait, bool wanted) const
{
    const Guest* const guest = position.holder->guest;
    return guest && &wait.flow == &guest->flow && (wanted || now_ns() > guest->until_ns);
}

/// So it does rather than run what is somebody else's: the worker's own unit will.
bool NativeEngine::leaves_with(const Wait& wait, const Found& found) const
{
    Guest* const guest = position.holder->guest;
    if (!guest || &wait.flow != &guest->flow) return false;
    guest->first = {found.task, found.offer};
    return true;
}

/// It will see who else wants the worker.
Holder* NativeEngine::displaced_by(const Worker&) const
{
    const Guest* const guest = position.holder->guest;
    return guest ? guest->displaced : nullptr;
}

} // namespace trencadis
