#include "session/crowd.hpp"

namespace trencadis {

unsigned Crowd::this_thread()
{
    static constinit std::atomic<unsigned> threads{0};
    thread_local const unsigned number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
}

bool Crowd::is_there(std::int64_t now, std::int64_t lasts, Tasks tasks, unsigned caller)
{
    if (workers_ < 2) return false;
    const unsigned mine = caller % places_;
    // One that lasts still asks again in the same call, and may know less of it: the sooner end is right.
    const std::int64_t end = ends_[mine].load(std::memory_order_relaxed);
    if (tasks == Tasks::none && (end <= now || end > now + lasts)) ends_[mine].store(now + lasts, std::memory_order_relaxed);
    const std::int64_t since = now - seen_at_ns_.load(std::memory_order_relaxed);
    if (since < -between_calls_ns) seen_at_ns_.store(INT64_MIN / 2, std::memory_order_relaxed); // the clock went back
    else if (since < between_calls_ns / 4) return true; // nobody looks at all the places that soon again
    if (are_enough(others(now, mine) + 1)) {
        seen_at_ns_.store(now, std::memory_order_relaxed);
        return true;
    }
    return since >= -between_calls_ns && since < between_calls_ns + 2 * lasts;
}

int Crowd::others(std::int64_t now, unsigned mine) const
{
    int count = calls_.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < places_; ++i) count += i != mine && ends_[i].load(std::memory_order_relaxed) > now;
    return count;
}

} // namespace trencadis
