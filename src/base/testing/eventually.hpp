#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace trencadis::testing {

/// Until `condition`; false after `limit`.
template <class Condition> bool eventually(const Condition& condition, std::chrono::milliseconds limit = std::chrono::seconds(60))
{
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

/// For what is tried again until it happens: others on the machine may put it off, though hardly for so long.
class Deadline {
public:
    bool passed() const { return std::chrono::steady_clock::now() > at_; }

private:
    std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now() + std::chrono::seconds(20);
};

/// What `call` takes, the shortest of up to six times: the last is the first below `enough`, if there is one. Others on the
/// machine only ever make it longer.
template <class Call> std::chrono::duration<double> soonest(const Call& call, std::chrono::duration<double> enough)
{
    auto shortest = std::chrono::duration<double>::max();
    for (int tries = 0; tries < 6 && shortest >= enough; ++tries) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        shortest = std::min<std::chrono::duration<double>>(shortest, std::chrono::steady_clock::now() - begin);
    }
    return shortest;
}

} // namespace trencadis::testing
