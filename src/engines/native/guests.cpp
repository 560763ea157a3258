#include "engines/native/engine.hpp"
#include "engines/native/position.hpp"
#include "observe/clock.hpp"

#include <sched.h>

namespace trencadis {

namespace {

/// A call that lasts longer is not worth the doubt where the system runs the caller's thread: the worker's own is pinned.
constexpr std::int64_t longest_visit_ns = 20'000'000;

} // namespace

/// The worker of the core that the caller is on, if it rests, else another one that does. Where the session was given certain cores, a
/// caller on another one stays away.
Worker* NativeEngine::free_place()
{
    const int cpu = sched_getcpu();
    const WorkerId mine = cpu >= 0 && cpu < int(worker_on_.size()) ? worker_on_[std::size_t(cpu)] : no_worker;
    if (mine != no_worker && sleepers_.displace(mine)) return workers_[mine].get();
    if (mine == no_worker && !parts_.callers_anywhere) return nullptr;
    for (const auto& worker : workers_)
        if (sleepers_.displace(worker->id)) return worker.get();
    return nullptr;
}

bool NativeEngine::has_room() const
{
    for (int worker = 0; worker < workers(); ++worker)
        if (sleepers_.is_free(worker)) return true;
    return false;
}

bool NativeEngine::attend(TaskFlow& flow, const std::function<void()>& call)
{
    if (position.engine) return false;
    Worker* const worker = free_place();
    if (!worker) return false;
    const FloatScope standard_modes{FloatModes()};
    Guest guest(*worker, *worker->resting, flow);
    struct Visit {
        NativeEngine& engine;
        Guest& guest;
        ~Visit()
        {
            if (position.holder) engine.depart(guest, nullptr);
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
    if (recorder_.enabled()) recorder_.record(worker.id, {"idle", 0, worker.idle_since_ns, now, 0, EventKind::idle});
}

/// Is there anything that the worker's own unit should be woken for?
bool NativeEngine::has_work(const Worker& worker) const
{
    return concurrent_ || queued_.load(std::memory_order_relaxed) > 0 || offers_.load(std::memory_order_relaxed) > 0 ||
           undiscovered_.any() || disturbed(worker, nullptr);
}

/// The worker's own unit has its place again, and the task to begin with. Who brings more work while the guest leaves finds the own unit
/// asleep, or is found by the look after restore: nothing is overlooked. The next guest may be there before this one has looked.
void NativeEngine::depart(Guest& guest, Task* first)
{
    Worker& worker = *guest.worker;
    const int own = bed_of(*guest.displaced);
    push_released(worker);
    count_idle(worker, 1);
    worker.idle_since_ns = now_ns();
    position = {nullptr, nullptr, nullptr, position.poll, position.next_poll_ns};
    set_here(nullptr);
    if (first || has_work(worker)) {
        guest.displaced->first = first;
        return sleepers_.call_back(own);
    }
    sleepers_.restore(own);
    if (has_work(worker)) sleepers_.notify_one(own);
}

/// Does a guest that waits for its whole call go, to sleep outside?
bool NativeEngine::wants_to_leave(const Wait& wait) const
{
    const Guest* const guest = position.holder->guest;
    return guest && &wait.flow == &guest->flow && now_ns() > guest->until_ns;
}

} // namespace trencadis
