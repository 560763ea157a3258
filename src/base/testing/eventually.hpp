#pragma once
#include <chrono>
#include <thread>

namespace trencadis::testing {

/// Until `condition`; false after `limit`.
template <class Condition> bool eventually(const Condition& condition, std::chrono::milliseconds limit = std::chrono::seconds(10))
{
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

} // namespace trencadis::testing
