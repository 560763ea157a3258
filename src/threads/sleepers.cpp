#include "threads/sleepers.hpp"

namespace trencadis {

void Sleepers::prepare(int bed)
{
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    beds_[bed].state.store(drowsy, std::memory_order_relaxed);
    full_fence();
}

bool Sleepers::cancel(int bed)
{
    if (!step(bed, drowsy, awake)) return false;
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return true;
}

bool Sleepers::wait(int bed, std::int64_t most_ns, bool place_is_free)
{
    const State mine = place_is_free ? asleep_free : asleep;
    if (!step(bed, drowsy, mine)) return true;
    std::atomic<std::uint32_t>& state = beds_[bed].state;
    while (true) {
        futex_wait(state, mine, most_ns);
        std::uint32_t seen = state.load(std::memory_order_acquire);
        if (seen == mine && most_ns >= 0 && step(bed, mine, awake)) {
            sleepers_.fetch_sub(1, std::memory_order_relaxed);
            return false;
        }
        while ((seen = state.load(std::memory_order_acquire)) == displaced) futex_wait(state, displaced);
        if (seen == awake) return true;
    }
}

void Sleepers::await_place(int bed)
{
    const std::atomic<std::uint32_t>& state = beds_[bed].state;
    for (std::uint32_t seen = displaced; seen != awake; seen = state.load(std::memory_order_acquire)) futex_wait(state, seen);
}

/// False: it does not sleep.
bool Sleepers::wake_up(int bed)
{
    if (!step(bed, asleep, awake) && !step(bed, asleep_free, awake)) return false;
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    futex_wake(beds_[bed].state, 1);
    return true;
}

void Sleepers::notify(int count, int spared, int spared_end)
{
    full_fence();
    if (sleepers_.load(std::memory_order_relaxed) == 0) return;
    for (int bed = 0; bed < count_; ++bed) {
        if (bed >= spared && bed < spared_end) continue;
        std::uint32_t state = beds_[bed].state.load(std::memory_order_acquire);
        // One who has not gone to sleep looks again, and may find something else: it does not count. Has it gone meanwhile, it
        // may have looked before there was anything to see.
        while (state == drowsy && !cancel(bed)) state = beds_[bed].state.load(std::memory_order_acquire);
        if (count > 0 && (state == asleep || state == asleep_free) && wake_up(bed)) --count;
    }
}

void Sleepers::notify_one(int bed)
{
    full_fence();
    while (true) {
        const std::uint32_t state = beds_[bed].state.load(std::memory_order_acquire);
        if (state == awake || state == displaced) return;
        if (state == drowsy) cancel(bed);
        else wake_up(bed);
    }
}

bool Sleepers::displace(int bed)
{
    if (!step(bed, asleep_free, displaced)) return false;
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return true;
}

void Sleepers::call_back(int bed)
{
    beds_[bed].state.store(awake, std::memory_order_release);
    futex_wake(beds_[bed].state, 1);
}

void Sleepers::restore(int bed)
{
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    beds_[bed].state.store(asleep_free, std::memory_order_release); // what the guest wrote, to who wakes it or displaces it again
    full_fence();
}

} // namespace trencadis
