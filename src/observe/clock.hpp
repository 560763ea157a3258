#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <atomic>
#include <x86intrin.h>
#endif

namespace trencadis {

namespace detail {

/// CLOCK_MONOTONIC through the operating system.
std::int64_t monotonic_ns();

#if defined(__x86_64__)
/// ns = base_ns + (ticks - base_ticks) * scale / 2^32. `scale` is stored last; 0 until the rate is known, and for
/// ever where the counter cannot be trusted.
struct TickRate {
    std::atomic<std::uint64_t> scale{0};
    std::uint64_t base_ticks = 0;
    std::int64_t base_ns = 0;
};
extern constinit TickRate tick_rate;

/// The time while the rate is not known; finds the rate once 10 ms have passed since its first call.
std::int64_t now_before_calibration();
#endif

} // namespace detail

/// Nanoseconds of CLOCK_MONOTONIC, from the processor's time-stamp counter where that one is invariant and the kernel
/// trusts it (then about 10 ns a reading instead of 25 to 60), from the kernel otherwise. Never runs backwards on one thread;
/// within 10 ppm of the kernel's clock. Any thread; nobody waits for the calibration.
inline std::int64_t now_ns()
{
#if defined(__x86_64__)
    const detail::TickRate& rate = detail::tick_rate;
    const std::uint64_t scale = rate.scale.load(std::memory_order_acquire);
    if (scale == 0) [[unlikely]]
        return detail::now_before_calibration();
    // Signed: the counter of another core may be some ticks behind the one that made the base.
    const auto ticks = static_cast<std::int64_t>(__rdtsc() - rate.base_ticks);
    return rate.base_ns + static_cast<std::int64_t>((static_cast<__int128>(ticks) * scale) >> 32);
#else
    return detail::monotonic_ns();
#endif
}

} // namespace trencadis
