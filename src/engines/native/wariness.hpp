#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace trencadis {

/// For how long calls are not open to others after a member of one was late: whose core was taken away is likely to lose it
/// again, and then all wait. A neighbour takes it again and again, an interrupt, or a host for ends of its own, once, and
/// nobody says which it was. So the first pause is short, as alone a call takes half as long again; where members are late
/// again soon, it is long enough that such waits take no more than a twentieth of the time, and twice as long as the one before.
///
/// Written by who closes a call, one at a time; read by any thread, relaxed: it is a guess.
class Wariness {
public:
    static constexpr std::int64_t times_lost = 20, times_lost_once = 4, longest_ns = 200'000'000;

    bool is_on(std::int64_t now) const { return now < until_ns_.load(std::memory_order_relaxed); }

    /// The caller had nothing to do but to wait, for so long.
    void was_late(std::int64_t lost_ns, std::int64_t now)
    {
        const bool again = now - until_ns_.load(std::memory_order_relaxed) < soon_ns_;
        const std::int64_t usual = times_lost * lost_ns;
        pause_ns_ = std::min(again ? std::max(usual, 2 * pause_ns_) : times_lost_once * lost_ns, longest_ns);
        soon_ns_ = std::max(usual, pause_ns_);
        until_ns_.store(now + pause_ns_, std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> until_ns_{0};
    std::int64_t pause_ns_ = 0, soon_ns_ = 0; ///< the last one, and what is soon after it
};

} // namespace trencadis
