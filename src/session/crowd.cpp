#include "session/crowd.hpp"

namespace trencadis {

thread_local constinit unsigned Crowd::number_ = 0;
constinit std::atomic<unsigned> Crowd::threads_{0};

bool Crowd::is_there(std::int64_t now, std::int64_t lasts, Tasks tasks, unsigned caller)
{
    if (workers_ < 2) return false;
    if (tasks == Tasks::none) one_begins_alone(now, lasts, caller);
    const std::int64_t since = now - seen_at_ns_.load(std::memory_order_relaxed);
    if (since < -between_calls_ns) seen_at_ns_.store(INT64_MIN / 2, std::memory_order_relaxed); // the clock went back
    return look(now, since, caller) || (since >= -between_calls_ns && since < between_calls_ns + 2 * lasts);
}

bool Crowd::look(std::int64_t now, std::int64_t since, unsigned caller)
{
    if (since >= -between_calls_ns && since < between_calls_ns / 4) return true;
    if (!are_enough(others(now, caller) + 1)) return false;
    seen_at_ns_.store(now, std::memory_order_relaxed);
    return true;
}

/// Those who call at the same time are all between two calls when the next ones begin.
void Crowd::one_is_over(std::int64_t now, unsigned caller)
{
    look(now, now - seen_at_ns_.load(std::memory_order_relaxed), caller);
    place_of(caller).store(0, std::memory_order_relaxed);
}

int Crowd::others(std::int64_t now, unsigned caller) const
{
    const unsigned mine = caller & (places_ - 1);
    int count = calls_.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < places_; ++i) count += i != mine && alone_[i].until.load(std::memory_order_relaxed) > now;
    return count;
}

} // namespace trencadis
