#pragma once
#include <chrono>
#include <thread>

namespace trencadis::testing {

/// Until `condition`; false after ten seconds.
template <class Condition> bool eventually(const Condition& condition)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

} // namespace trencadis::testing
