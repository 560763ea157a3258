#pragma once
#include "base/error.hpp"

#include <chrono>
#include <functional>

namespace trencadis {

/// Of a call that goes step by step on the calling thread and does not wait for tasks, where the crew would ask: between two
/// steps, and about every 50 ms, its caller is asked whether it wants to go on. Throws Error{cancelled} where it does not. What
/// belongs to the caller outlives this.
class AskedBetweenSteps {
public:
    explicit AskedBetweenSteps(const std::function<bool()>& interrupted) : interrupted_(interrupted) {}

    void operator()()
    {
        if (!interrupted_ || Clock::now() < next_) return;
        if (interrupted_()) throw Error(ErrorCode::cancelled, "the call was cancelled");
        next_ = Clock::now() + interval;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{50};

    const std::function<bool()>& interrupted_;
    Clock::time_point next_ = Clock::now() + interval;
};

} // namespace trencadis
