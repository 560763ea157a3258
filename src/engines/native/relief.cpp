#include "engines/native/relief.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <sched.h>

namespace trencadis {

namespace {

constexpr std::int64_t stall_ns = 20'000;         ///< standing still for so long is more than an interrupt
constexpr std::int64_t turn_ns = 500'000;         ///< for so long: another process has its turn, and will have more
constexpr std::int64_t wary_for_ns = 200'000'000; ///< who was held up is likely to be again
constexpr std::int64_t wary_spin_ns = 100'000;    ///< about what it costs to sleep and to be woken, twice
constexpr std::size_t looks = 4;                  ///< at other workers at a time

} // namespace

/// A thread that belongs to no core is moved by the system anyway, and one that is emulated as slow would be slow elsewhere.
void Relief::add(Post& post, const WorkerPlace& place, int node, const std::atomic<std::int64_t>& runs_since_ns)
{
    post.core_ = units_stay_ && place.slow == 1 ? place.core() : -1;
    post.node_ = node;
    post.runs_ = &runs_since_ns;
    posts_.push_back(&post);
    for (Post* each : posts_) each->seen_.resize(posts_.size());
}

// ---- the owner ------------------------------------------------------------------------------------------------

void Relief::has(Post& owner, const ThreadHandle& thread) const
{
    owner.thread_.store(thread.id, std::memory_order_relaxed);
    owner.clock_.store(thread.clock, std::memory_order_relaxed);
}

bool Relief::is_mine(const Post& owner) { return ThreadHandle::mine().id == owner.thread_.load(std::memory_order_relaxed); }

void Relief::go_home(Post& owner) const
{
    ThreadHandle::mine().move_to(owner.core_);
    owner.whereabouts_.store(Post::Whereabouts::at_home, std::memory_order_release);
}

void Relief::stay(Post& owner) const
{
    using enum Post::Whereabouts;
    Post::Whereabouts now = owner.whereabouts_.load(std::memory_order_relaxed);
    while (now == being_moved || !owner.whereabouts_.compare_exchange_weak(now, fixed, std::memory_order_acquire)) {
        if (now == being_moved) sched_yield();
        now = owner.whereabouts_.load(std::memory_order_relaxed);
    }
}

// ---- the helper -----------------------------------------------------------------------------------------------

/// One that is often held up itself would use up for the owner what it gets of its core, which is no place for others either.
bool Relief::helps(Post& helper) const
{
    if (!is_on() || helper.core_ < 0) return false;
    return when_ == Relieving::always || !is_held_up(helper);
}

/// Lately, so it is likely to be again.
bool Relief::is_held_up(Post& owner) const
{
    const std::int64_t since = owner.held_up_ns_.load(std::memory_order_relaxed);
    if (since == 0) return false;
    if (now_ns() - since < wary_for_ns) return true;
    owner.held_up_ns_.store(0, std::memory_order_relaxed);
    return false;
}

bool Relief::is_at_work(const Post& post)
{
    return post.runs_->load(std::memory_order_relaxed) != 0 || post.joined_.load(std::memory_order_relaxed);
}

bool Relief::somebody_works(const Post& but) const
{
    return std::any_of(posts_.begin(), posts_.end(), [&](const Post* post) { return post != &but && is_at_work(*post); });
}

/// Looks at some of the others, those of its memory node. A thread that is at work while its processor time stands still waits
/// for its core, or what it runs waits for something; to move that one is in vain and does no harm. Has it given its core?
bool Relief::help_somebody(Post& helper, std::size_t looks)
{
    for (std::size_t i = std::min(looks, posts_.size()); i > 0; --i) {
        const std::size_t number = helper.looked_at_ = (helper.looked_at_ + 1) % posts_.size();
        Post& owner = *posts_[number];
        if (&owner == &helper || owner.core_ < 0 || !is_at_work(owner)) continue;
        if (owner.core_ == helper.core_ || owner.node_ != helper.node_) continue;
        if (when_ == Relieving::always || stands_still(helper, number)) return give_core(helper, owner);
    }
    return false;
}

bool Relief::help_members(Post& helper) { return helps(helper) && help_somebody(helper, posts_.size()); }

bool Relief::stands_still(Post& helper, std::size_t number) const
{
    Post& owner = *posts_[number];
    const ThreadHandle thread{owner.thread_.load(std::memory_order_relaxed), owner.clock_.load(std::memory_order_relaxed)};
    const std::int64_t cpu_ns = thread.cpu_ns(), now = now_ns();
    Post::Observation& seen = helper.seen_[number];
    if (cpu_ns < 0 || cpu_ns != seen.cpu_ns || thread != seen.thread) {
        seen = {thread, cpu_ns, now};
        return false;
    }
    if (now - seen.since_ns > turn_ns) owner.held_up_ns_.store(now, std::memory_order_relaxed);
    return now - seen.since_ns > stall_ns;
}

/// The owner goes on there at once, wherever in its task it is, while the helper sleeps.
bool Relief::give_core(Post& helper, Post& owner) const
{
    using enum Post::Whereabouts;
    Post::Whereabouts before = at_home;
    if (!owner.whereabouts_.compare_exchange_strong(before, being_moved, std::memory_order_acquire)) return false;
    const ThreadHandle thread{owner.thread_.load(std::memory_order_relaxed), 0};
    const bool moved = thread.move_to(helper.core_);
    owner.whereabouts_.store(moved ? away : at_home, std::memory_order_release);
    if (!moved) return false;
    helper.given_.store(helper.given() + 1, std::memory_order_relaxed);
    helper.gave_ns_ = now_ns();
    return true;
}

void Relief::Watch::look()
{
    if (watches_ && (rested_ || relief_.when_ == Relieving::always)) relief_.help_somebody(helper_, looks);
}

bool Relief::Watch::may_spin(std::int64_t awake_ns, std::int64_t now) const
{
    if (!watches_ || awake_ns < wary_spin_ns || now - helper_.gave_ns_ > wary_for_ns) return true;
    return !relief_.somebody_works(helper_);
}

std::int64_t Relief::Watch::nap_ns() const
{
    if (!watches_) return relief_.is_on() && helper_.core_ >= 0 ? wary_for_ns : forever; // then it may watch again
    const bool for_long = nap_ns_ > shortest_nap_ns && !relief_.somebody_works(helper_);
    return for_long ? forever : nap_ns_;
}

void Relief::Watch::slept(bool woken, int idle)
{
    rested_ = !woken;
    if (!watches_) watches_ = relief_.helps(helper_);
    nap_ns_ = woken ? shortest_nap_ns : std::min(2 * nap_ns_, longest_nap_ns * std::max(2, idle) / 2);
}

} // namespace trencadis
